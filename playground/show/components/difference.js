// A line diff as rows. Text is only set as textContent, so it never becomes markup.

const drawn = new WeakMap()
const SIGN = { same: " ", removed: "−", added: "+", gap: "⋯", heading: "§" }

function mount({ data, parentElement }) {
  const root = parentElement.querySelector(".diff")
  if (!root || !data || drawn.get(root) === data.key) return
  drawn.set(root, data.key)
  scrollable(root, "Difference").replaceChildren(
    ...data.lines.map(([change, text]) => {
      const row = element("div", `row ${change}`)
      row.append(element("span", "sign", SIGN[change]), element("span", "line", text))
      return row
    }),
  )
}

export default function host(component) {
  return hosted(component, "diff", mount)
}
