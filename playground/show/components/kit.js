// What the components share; it stands before each of them, in one module.

function element(tag, className, text) {
  const node = document.createElement(tag)
  if (className) node.className = className
  if (text !== undefined) node.textContent = text
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
function grouped(value, places = 0) {
  const digits = { minimumFractionDigits: places, maximumFractionDigits: places }
  return value.toLocaleString("en", { ...digits, roundingMode: "halfEven" })
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
