// Rows of bars, the best first: each a part of the full width, in the colours of what became of it.

const KINDS = ["read", "written", "uncached"]

function mount({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".bars")
  if (!root || !data) return
  const most = Math.max(1, ...data.rows.map(({ shares }) => shares.reduce((sum, share) => sum + share, 0)))
  const rows = data.rows.map(({ key, name, title, shares, figure, on }) => {
    const row = button("", title, () => setTriggerValue("chosen", key))
    row.className = on ? "bar on" : "bar"
    row.setAttribute("aria-pressed", Boolean(on))
    const track = element("span", "track")
    shares.forEach((share, at) => {
      const part = element("i", KINDS[at])
      part.style.width = `${(100 * share) / most}%`
      track.append(part)
    })
    row.append(element("span", "name", name), track, element("span", "figure", figure))
    return row
  })
  root.replaceChildren(element("h3", "", data.title), ...rows)
}

export default function host(component) {
  if (component !== undefined) return mount(component)
  return {
    render({ model, el }) {
      el.append(element("div", "bars"))
      mount({ data: model.get("data"), parentElement: el, setTriggerValue: () => {} })
    },
  }
}
