// Rows of bars, each a part of the full width, in the colours of what became of it. With `take`, a
// row is a button, which takes its key.

const KINDS = ["read", "written", "uncached"]

function barRows(rows, take) {
  const most = Math.max(1, ...rows.map(({ shares = [] }) => shares.reduce((sum, share) => sum + share, 0)))
  return rows.map(({ key, name, title, shares, pieces, figure, on }) => {
    const row = take ? button("", title, () => take(key)) : element("div")
    row.className = on ? "bar on" : "bar"
    if (take) row.setAttribute("aria-pressed", Boolean(on))
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
}
