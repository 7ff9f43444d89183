// Rows of bars, the best first: each a part of the full width, in the colours of what became of it.

const KINDS = ["read", "written", "uncached"]

function mount({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".bars")
  if (!root || !data) return undefined
  const most = Math.max(1, ...data.rows.map(({ shares = [] }) => shares.reduce((sum, share) => sum + share, 0)))
  const rows = data.rows.map(({ key, name, title, shares, pieces, figure, on }) => {
    const row = data.title ? button("", title, () => setTriggerValue("chosen", key)) : element("div")
    row.className = on ? "bar on" : "bar"
    if (data.title) row.setAttribute("aria-pressed", Boolean(on))
    const track = element("span", pieces ? "pieces" : "track")
    for (const [kind, text] of pieces ?? []) track.append(element("span", `k-${kind}`, text))
    for (const [at, share] of (shares ?? []).entries()) {
      if (!share) continue // its gap would move the next part
      const part = element("i", shares.length > 1 ? KINDS[at] : "size")
      part.style.width = `${(100 * share) / most}%`
      track.append(part)
    }
    row.append(element("span", "name", name), track)
    if (figure) row.append(element("span", "figure", figure))
    return row
  })
  root.classList.toggle("still", !data.title)
  root.replaceChildren(...(data.title ? [element("h3", "", data.title)] : []), ...rows)
  if (!("remedy" in data)) return undefined
  const offer = (remedy) => document.dispatchEvent(new CustomEvent("playground-remedy", { detail: (globalThis.playgroundRemedy = remedy) }))
  offer(data.remedy && { ...data.remedy, take: () => setTriggerValue("chosen", data.remedy.key) })
  return () => offer(null)
}

export default function host(component) {
  return hosted(component, "bars", mount)
}
