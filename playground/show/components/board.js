// A page's answer on its first screen: a sentence, figures, and below them cards. A card has bars,
// columns, rows to search and to sort, facts, findings, squares, a reply, or two versions' strips.

const boards = new WeakMap() // root → the words and choices in its cards

function mount({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".board")
  if (!root || !data) return undefined
  const known = boards.get(root)
  const board = known ?? { views: {} }
  boards.set(root, board)
  board.choose = (...what) => setTriggerValue("chosen", what)
  if (board.key !== undefined && board.key === data.key) return undefined
  const scrolled = root.querySelector(".rows")?.scrollTop ?? 0
  board.key = data.key
  root.replaceChildren(...(data.sentence ? [headline(data)] : []), drawCards(data.cards, board))
  const rows = root.querySelector(".rows")
  if (rows) rows.scrollTop = scrolled
  if (known) return undefined
  return hearKeys(root, (key, event) => {
    const box = root.querySelector("input[type=search]")
    if (key !== "/" || !box) return
    event.preventDefault()
    box.focus()
  })
}

function drawCards(cards, board) {
  const place = element("div", "cards")
  for (const card of cards) {
    const node = element("section", `card ${card.kind}`)
    node.style.flexGrow = card.grow
    const title = element("div", "title")
    title.append(element("h3", "", card.title), element("span", "quiet", card.note))
    const act = (...what) => board.choose(card.key, ...what)
    for (const [label, action] of card.actions ?? []) title.append(button(label, label, () => act("", action)))
    if (card.title) node.append(title)
    node.append(...DRAWN[card.kind](card, act, (board.views[card.key] ??= {})))
    place.append(node)
  }
  return place
}

const DRAWN = {
  bars: drawBars,
  columns: drawColumns,
  rows: drawRows,
  facts: drawFacts,
  findings: drawFindings,
  strips: drawStrips,
  matrix: drawMatrix,
  pieces: drawPieces,
}

function drawBars({ rows }, act) {
  return rows.map(({ key, name, of, share, figure, tone, on }) => {
    const row = key ? button("", `Show ${name} ${of}`, () => act(key)) : element("div")
    row.className = `bar ${tone}${on ? " on" : ""}`
    if (key) row.setAttribute("aria-pressed", Boolean(on))
    const track = element("span", "track")
    if (share) track.append(element("i"))
    if (share) track.firstChild.style.width = `${100 * share}%`
    const told = element("span", "name", `${name} `)
    told.append(element("span", "quiet", of))
    row.append(told, track, element("span", "figure", figure))
    return row
  })
}

function drawColumns({ columns, legend }) {
  const chart = element("div", "chart")
  const most = Math.max(...columns.map(({ size }) => size), 1e-9)
  for (const { label, size, part, figure, flag } of columns) {
    const column = element("div", "column")
    const stack = element("i")
    stack.style.height = `calc((100% - 38px) * ${size / most})`
    if (part) stack.append(element("i"))
    if (part) stack.firstChild.style.height = `max(2px, ${(100 * part) / size}%)`
    const tower = element("div", "tower")
    tower.append(element("span", "flag", flag), element("b", "", figure), stack)
    column.append(tower, element("span", "quiet", label))
    chart.append(column)
  }
  return [chart, drawLegend(legend)]
}

function drawFacts({ rows }, act) {
  return rows.map(({ key, cells: [name, ...values], tone, on }) => {
    const row = key ? button("", `Show ${name}`, () => act(key)) : element("div")
    row.className = `fact${on ? " on" : ""}`
    if (key) row.setAttribute("aria-pressed", Boolean(on))
    row.append(element("b", "", name), ...values.map((value) => element("span", tone, value)))
    return row
  })
}

function drawFindings({ rows }, act) {
  return rows.map(({ tag, tone, name, text, ...more }) => {
    const row = element("div", "finding")
    const line = element("div")
    line.append(element("span", `tag ${tone}`, tag), element("b", "", ` ${name}`))
    row.append(line, phrase("p", "", text), ...drawActions(more, act))
    return row
  })
}

// Return the buttons of a row: those that ask the page for an action, and one that copies `given`
function drawActions({ key, actions = [], given }, act) {
  const asked = actions.map(([label, action]) => button(label, label, () => act(key, action)))
  return given === undefined ? asked : [...asked, copyButton("it", () => given)]
}

// Draw a table whose rows can be searched, narrowed to a group, and sorted
function drawRows(card, act, view) {
  const { heads, rows, search, orders, groups } = card
  const body = element("tbody")
  const names = heads.map(([head]) => head)
  const said = element("span", "quiet")
  said.setAttribute("role", "status")
  const fill = () => {
    const words = (view.words ?? "").toLowerCase().split(/\s+/)
    const wanted = rows.filter(
      (row) => (!view.group || row.group === view.group) && words.every((word) => (row.found ?? "").includes(word)),
    )
    const by = orders?.[view.order ?? 0]?.[1]
    if (by !== undefined) wanted.sort((a, b) => a.order[by] - b.order[by] || (a.name < b.name ? -1 : 1))
    let section
    body.replaceChildren(
      ...wanted.flatMap((row) => {
        const node = drawRow(row, act, names)
        if (by !== undefined || !row.section || row.section === section) return [node]
        section = row.section
        const head = element("tr", "section")
        head.append(element("th", "", section))
        head.firstChild.colSpan = heads.length
        return [head, node]
      }),
    )
    said.textContent = wanted.length < rows.length ? `${grouped(wanted.length)} of ${grouped(rows.length)}` : ""
  }
  const table = element("table")
  const top = element("tr")
  for (const [head, width] of heads) {
    const cell = element("th", "", head)
    cell.style.width = width
    if (rows[0]?.cells[top.childElementCount - 1]?.[1]?.startsWith("number")) cell.className = "number"
    top.append(cell)
  }
  table.append(element("thead"), body)
  table.firstChild.append(top)
  fill()
  const scroller = scrollable(element("div", "rows"), card.title || search)
  scroller.append(table)
  if (!search) return [scroller]
  const bar = element("div", "controls")
  const box = element("input", "search")
  Object.assign(box, { type: "search", placeholder: search, value: view.words ?? "" })
  box.setAttribute("aria-label", search)
  box.onkeydown = (event) => event.stopPropagation()
  box.oninput = () => fill((view.words = box.value))
  const family = (_, at) => fill((view.group = groups[at - 1]))
  const order = (_, at) => fill((view.order = at))
  bar.append(box, chooser("Family", ["All families", ...groups], family, view.group))
  bar.append(chooser("Order", orders.map(([label], at) => [at, label]), order, view.order), said)
  return [bar, scroller]
}

function drawRow({ key, name, cells, on, ...more }, act, names) {
  const row = element("tr", on ? "on" : "")
  const first = element("td")
  const opener = button(name, `Open ${name}`, () => act(key))
  if (on) opener.setAttribute("aria-current", "true")
  first.append(opener)
  row.append(first)
  for (const [at, [text, kind, marked]] of cells.entries()) {
    const cell = element("td", kind)
    cell.dataset.head = names[at + 1]
    const from = marked ? text.indexOf(marked) : -1
    const late = Math.max(0, from - 45) // so that the marked word is in sight
    if (kind === "long") cell.append(phrase("span", "", text))
    else cell.append(element("span", "", from < 0 ? text : (late ? "…" : "") + text.slice(late, from)))
    if (from >= 0) cell.append(element("mark", "", marked), element("span", "", text.slice(from + marked.length)))
    if (!kind.startsWith("number")) cell.title = text
    row.append(cell)
  }
  if (!more.actions) return row
  const last = element("td", "actions")
  last.append(...drawActions({ key, ...more }, act))
  row.append(last)
  return row
}

// Draw a row for each dialect, with a square for each value; a click on a square chooses the value
function drawMatrix({ rows, chosen, legend }, act) {
  const table = rows.map(({ name, figure, squares }) => {
    const row = element("div", "squares")
    const line = element("span", "blocks")
    for (const [value, refused] of squares) {
      const square = element("i", `${refused ? "uncached" : "read"}${value === chosen ? " chosen" : ""}`)
      square.title = `${value}: ${refused || "carried"}`
      square.onclick = () => act(value)
      line.append(square)
    }
    row.setAttribute("role", "img")
    row.setAttribute("aria-label", `${name}: ${figure}`)
    row.append(element("b", "", name), line, element("span", "figure", figure))
    return row
  })
  return [...table, drawLegend(legend)]
}

// Draw a reply, coloured by the events that are read from it, and below it the calls
function drawPieces({ pieces, read }) {
  const text = element("pre")
  for (const [kind, piece] of pieces) text.append(element("span", `k-${kind}`, piece))
  return [text, ...read.map((call) => element("p", "code read", call))]
}

// Draw two versions, one above the other: a block is as wide as its tokens, equal blocks are aligned
function drawStrips({ columns, at, into, place, read, legend }, act) {
  const total = columns.reduce((sum, { tokens }) => sum + Math.max(...tokens, 1), 0)
  const drawing = element("div", "drawing")
  const sides = ["old", "new"].map((side, index) => {
    const line = element("div", `line ${side}`)
    line.append(element("span", "quiet", side), element("div", "blocks"))
    for (const { key, kind, change, name, tokens } of columns) {
      const block = element("i", `b-${kind} ${tokens[index] === null ? "missing" : change}`)
      block.style.flexGrow = Math.max(...tokens, 1)
      block.title = name
      block.onclick = () => act(key)
      line.lastChild.append(block)
    }
    return line
  })
  const width = ({ tokens }) => Math.max(...tokens, 1)
  const before = columns.slice(0, at).reduce((sum, column) => sum + width(column), into && into * width(columns[at]))
  const kept = element("div", "kept")
  kept.append(element("i", "read"), element("i", "uncached"))
  kept.firstChild.style.flexGrow = read
  kept.lastChild.style.flexGrow = 1 - read
  drawing.append(...sides, kept)
  if (place) {
    const broken = element("div", `break${before > 0.6 * total ? " late" : ""}`)
    broken.style.left = `calc(40px + (100% - 40px) * ${before / total})`
    broken.append(element("span", "", place))
    broken.onclick = () => columns[at] && act(columns[at].key)
    drawing.append(broken)
  }
  drawing.setAttribute("role", "img")
  drawing.setAttribute("aria-label", legend.map(([, text]) => text).join(", "))
  return [drawing, drawLegend(legend)]
}

export default function host(component) {
  return hosted(component, "board", mount)
}
