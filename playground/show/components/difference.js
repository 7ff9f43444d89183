// A line diff as rows; the text only ever goes into textContent.

const drawn = new WeakMap()
const SIGN = { same: " ", removed: "−", added: "+", gap: "⋯", heading: "§" }

function mount({ data, parentElement }) {
  const root = parentElement.querySelector(".diff")
  if (!root || !data || drawn.get(root) === data.key) return
  drawn.set(root, data.key)
  root.tabIndex = 0 // it scrolls: by keyboard too
  root.setAttribute("role", "region")
  root.setAttribute("aria-label", "Difference")
  root.replaceChildren(
    ...data.lines.map(([change, text]) => {
      const row = document.createElement("div")
      row.className = `row ${change}`
      const sign = document.createElement("span")
      sign.className = "sign"
      sign.textContent = SIGN[change]
      const line = document.createElement("span")
      line.className = "line"
      line.textContent = text
      row.append(sign, line)
      return row
    }),
  )
}

export default function host(component) {
  if (component !== undefined) return mount(component)
  return {
    render({ model, el }) {
      const root = document.createElement("div")
      root.className = "diff"
      el.append(root)
      mount({ data: model.get("data"), parentElement: el })
    },
  }
}
