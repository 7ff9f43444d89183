// Code that the components share: the server puts it before each component, in one module.

function element(tag, className, text) {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
  return node
}

// Return an element with our own words, in which backquotes enclose code
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

// Give a node that scrolls a name, and let the keyboard scroll it
function scrollable(node, label, role = "region") {
  node.tabIndex = 0
  node.setAttribute("role", role)
  node.setAttribute("aria-label", label)
  return node
}

// Return a list of choices: [value, label], or a label that is its value. `take` gets value and index
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

// Return a legend: signs with their words; a word may have no sign
function drawLegend(signs) {
  const legend = element("div", "legend")
  for (const [kind, text] of signs) legend.append(element("span", kind && `sign s-${kind}`, text))
  return legend
}

// Store a value that outlasts a reload of the tab, if the browser's storage takes it
function remember(key, value) {
  try {
    if (value) sessionStorage.setItem(key, JSON.stringify(value))
    else sessionStorage.removeItem(key)
  } catch {
    // the storage is closed or full
  }
}

function remembered(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key)) ?? {}
  } catch {
    return {}
  }
}

// Return a page's answer: a sentence, a note below it, and figures with their words and tones
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

// Listen for keys that are pressed outside of components; the first visible component takes a key
function hearKeys(root, take) {
  const heard = (event) => !event.defaultPrevented && root.checkVisibility() && take(event.detail, event)
  document.addEventListener("playground-key", heard)
  return () => document.removeEventListener("playground-key", heard)
}

// Return the index of the first of sorted `items` for which `isPast` holds
function firstPast(items, isPast) {
  let [low, high] = [0, items.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isPast(items[middle])) high = middle
    else low = middle + 1
  }
  return low
}

// Count characters as the library does: a surrogate pair, two units in JavaScript, is one
function characters(text) {
  const pairs = text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)
  return text.length - (pairs ? pairs.length : 0)
}

// Return at most `most` units of a text from its beginning, without half a surrogate pair
function beginning(text, most) {
  const code = most < text.length ? text.charCodeAt(most - 1) : 0
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? most - 1 : most)
}

// Return how much of a text is shown: if it holds a file in base64, up to the file's first letters
const DATA = /(?:base64,|"data": ?\\*")[\w+/=-]{400}/
function upToData(text) {
  const at = text.search(DATA)
  return at < 0 ? text.length : at + 80
}

// Return a foreign text for a sentence of ours as `playground/base/wording.py` does: with escapes for
// hidden characters, which could otherwise control the text
const HIDDEN = new RegExp(
  "[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200b\\u200e\\u200f\\u2028\\u2029\\u202a-\\u202e" +
    "\\u2060-\\u2064\\u2066-\\u2069\\ufeff\\ud800-\\udfff\\u{e0000}-\\u{e007f}]",
  "gu",
)

function visible(text) {
  const hex = (char) => char.codePointAt(0).toString(16)
  return text.replace(HIDDEN, (c) => (c < "\u0100" ? `\\x${hex(c).padStart(2, "0")}` : `\\u{${hex(c)}}`))
}

// Return a name or a quotation for a sentence; its reading direction does not affect the sentence
function isolated(text) {
  return `\u2068${visible(text)}\u2069`
}

// Formats of numbers, as `playground/base/wording.py` writes them
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

// Copy a text. Over http from another host, there is no clipboard API: then copy a selection.
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

// Mount a component of Streamlit; without one, as in a notebook or an HTML page, return {render}
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
