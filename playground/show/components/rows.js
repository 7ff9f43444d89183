// Return rows of bars: each part is a share of the width, in the colour of its outcome (read, written,
// uncached). With `take`, a row is a button, and a click calls `take` with the row's key.

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
      if (!share) continue // a part without width would still add a gap
      const part = element("i", shares.length > 1 ? KINDS[at] : "size")
      part.style.width = `${(100 * share) / most}%`
      track.append(part)
    }
    row.append(element("span", "name", name), track)
    if (figure) row.append(element("span", "figure", figure))
    return row
  })
}
