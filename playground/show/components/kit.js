// What the components share; it stands before each of them, in one module.

function element(tag, className, text) {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  return node
}

// Our own words, in which backquotes enclose code
function phrase(tag, className, text) {
  const node = element(tag, className)
  node.append(...text.split("`").map((piece, at) => (at % 2 ? element("code", "", piece) : piece)))
  return node
}

function button(label, title, action) {
  const node = element("button", "", label)
  node.type = "button"
  node.title = title
  node.setAttribute("aria-label", title)
  node.onclick = action
  return node
}

// What scrolls has a name, and can be scrolled by keyboard
function scrollable(node, label, role = "region") {
  node.tabIndex = 0
  node.setAttribute("role", role)
  node.setAttribute("aria-label", label)
  return node
}

// A list of choices: [value, label], or a label that is its own value. `take` gets value and index
function chooser(label, choices, take, chosen) {
  const node = element("select")
  node.title = label
  node.setAttribute("aria-label", label)
  offer(node, choices, chosen)
  node.onchange = () => take(node.value, node.selectedIndex)
  return node
}

function offer(node, choices, chosen) {
  const options = choices.map((choice) => {
    const [value, shown] = [choice].flat()
    return Object.assign(element("option", "", shown ?? value), { value, selected: value === chosen })
  })
  node.replaceChildren(...options)
}

// Signs and their words; a word without a sign stands alone
function drawLegend(signs) {
  const legend = element("div", "legend")
  for (const [kind, text] of signs) legend.append(element("span", kind && `sign s-${kind}`, text))
  return legend
}

// What the tab remembers over a reload; nothing if its memory is closed, too small or unreadable
function remember(key, value) {
  try {
    if (value) sessionStorage.setItem(key, JSON.stringify(value))
    else sessionStorage.removeItem(key)
  } catch {
    // then it is forgotten
  }
}

function remembered(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? {}
  } catch {
    return {}
  }
}

// What a page has found: a sentence, a note below it, and figures with their words and tones
function headline({ sentence, note, figures }) {
  const head = element("div", "head")
  const words = element("div", "sentence")
  words.append(element("h2", "", sentence), element("p", "", note))
  const all = element("div", "figures")
  for (const [value, of, tone] of figures) {
    const figure = element("div", tone)
    figure.append(element("b", "", value), element("span", "", of))
    all.append(figure)
  }
  head.append(words, all)
  return head
}

// A key that was pressed outside of any component goes to the first one that is seen and takes it
function hearKeys(root, take) {
  const heard = (event) => !event.defaultPrevented && root.checkVisibility() && take(event.detail, event)
  document.addEventListener("playground-key", heard)
  return () => document.removeEventListener("playground-key", heard)
}

// The index of the first of sorted `items` for which `isPast` holds
function firstPast(items, isPast) {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isPast(items[middle])) high = middle
    else low = middle + 1
  }
  return low
}

// Characters as the library counts them: one that JavaScript keeps in two halves is one
function characters(text) {
  const pairs = text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)
  return text.length - (pairs ? pairs.length : 0)
}

// The first so many characters of a text, none of them cut in two
function beginning(text, most) {
  const code = most < text.length ? text.charCodeAt(most - 1) : 0
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? most - 1 : most)
}

// How much of a text is shown where it holds a picture or a file: to its first letters in base64
const DATA = /(?:base64,|"data": ?\\*")[\w+/=-]{400}/
function upToData(text) {
  const at = text.search(DATA)
  return at < 0 ? text.length : at + 80
}

// Somebody else's text within words of ours, as `playground/base/wording.py` shows it: nothing hidden is
// left to be obeyed
const HIDDEN = new RegExp(
  "[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200b\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e" +
    "\\u2060-\\u2064\\u2066-\\u2069\\ufeff\\ud800-\\udfff\\u{e0000}-\\u{e007f}]",
  "gu",
)

function visible(text) {
  const hex = (char) => char.codePointAt(0).toString(16)
  return text.replace(HIDDEN, (c) => (c < "\u0100" ? `\\x${hex(c).padStart(2, "0")}` : `\\u{${hex(c)}}`))
}

// A name or a quotation in a sentence: its direction is its own affair
function isolated(text) {
  return `\u2068${visible(text)}\u2069`
}

// Numbers are written as `playground/base/wording.py` writes them
const formats = [0, 1, 2].map((places) => {
  const digits = { minimumFractionDigits: places, maximumFractionDigits: places }
  return new Intl.NumberFormat("en", { ...digits, roundingMode: "halfEven" })
})

function grouped(value, places = 0) {
  return formats[places].format(value)
}

function counted(count, thing) {
  return `${grouped(count)} ${thing}${count === 1 ? "" : "s"}`
}

function seconds(value) {
  if (value > 0 && value < 1) return `${grouped(value * 1000)} ms`
  return `${grouped(value, value < 100 ? 1 : 0).replace(/\.0$/, "")} s`
}

// On plain http under another name there is no clipboard: then a selection is copied the old way.
async function copyText(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const box = element("textarea", "", text)
  box.style.position = "fixed"
  document.body.append(box)
  box.select()
  document.execCommand("copy")
  box.remove()
}

function copyButton(what, text) {
  const node = button("copy", `Copy ${what}`, async (event) => {
    event.stopPropagation()
    await copyText(text())
    node.textContent = "copied"
    setTimeout(() => (node.textContent = "copy"), 1200)
  })
  node.className = "copy"
  node.onkeydown = (event) => event.stopPropagation()
  return node
}

// A component is mounted by Streamlit; called without one, as in a notebook or a page, it is made
function hosted(component, name, mount) {
  if (component !== undefined) return mount(component)
  const ignore = () => {}
  return {
    render({ model, el }) {
      el.append(element("div", name))
      const data = model.get("data")
      return mount({ data, parentElement: el, setStateValue: ignore, setTriggerValue: ignore })
    },
  }
}
