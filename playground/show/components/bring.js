// A box for pasted text, dropped files or a chosen file, with the server's answer to it.
// A long paste is not put into the text box, which would need seconds to lay it out.

const PAUSE = 250 // milliseconds after the last key, then the text is sent
const LONG = 60000 // characters of a paste that is not put into the box
const SHOWN = 2000
const MOST = 64 * 1024 * 1024
const states = new WeakMap()

const size = (bytes) =>
  bytes < 1e6 ? `${grouped(bytes / 1e3, 1)} kB` : `${grouped(bytes / 1e6, 1)} MB`

function base64(bytes) {
  let text = ""
  for (let at = 0; at < bytes.length; at += 32768) {
    text += String.fromCharCode(...bytes.subarray(at, at + 32768))
  }
  return btoa(text)
}

async function contentOf(file) {
  const bytes = new Uint8Array(await file.arrayBuffer())
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) }
  } catch {
    return { base64: base64(bytes) }
  }
}

function hold(state, text) {
  state.box.readOnly = true
  state.box.value = `${text.slice(0, SHOWN)}\n…`
  state.held.textContent = `${size(new Blob([text]).size)} pasted; the beginning is shown`
  state.clear.hidden = false
}

function send(state, given) {
  state.number += 1
  state.said.textContent = "…"
  state.set("typed", { number: state.number, ...given })
}

// Send the first of the files, and name the others, which are not read.
async function take(state, [file, ...others]) {
  if (!file) return
  const left = others.length ? `; one at a time: not ${others.map((f) => isolated(f.name)).join(", ")}` : ""
  state.box.readOnly = true
  state.box.value = file.name
  state.clear.hidden = false
  if (file.size > MOST) {
    const large = `${size(file.size)} is more than the 64 MB that are read`
    state.said.textContent = `${isolated(file.name)}: ${large}${left}`
    return
  }
  state.held.textContent = left.slice(2)
  const content = await contentOf(file)
  if (content.text !== undefined) {
    state.box.value = content.text.slice(0, SHOWN) + (content.text.length > SHOWN ? "\n…" : "")
    state.held.textContent = `${isolated(file.name)}, ${size(file.size)}${left}`
  }
  send(state, { name: file.name, ...content })
}

function emptied(state) {
  clearTimeout(state.timer)
  state.box.readOnly = false
  state.box.value = ""
  state.held.textContent = ""
  state.clear.hidden = true
  send(state, { name: "", text: "" })
  state.box.focus()
}

function listen(state) {
  const { box } = state
  box.oninput = () => {
    clearTimeout(state.timer)
    state.timer = setTimeout(() => send(state, { name: "", text: box.value }), PAUSE)
  }
  box.onpaste = (event) => {
    const { files } = event.clipboardData
    const text = event.clipboardData.getData("text/plain")
    if (files.length && !text) {
      event.preventDefault()
      take(state, files)
    } else if (text.length >= LONG) {
      event.preventDefault()
      hold(state, text)
      send(state, { name: "", text })
    }
  }
  state.root.ondragover = (event) => event.preventDefault()
  state.root.ondrop = (event) => {
    event.preventDefault()
    take(state, event.dataTransfer.files)
  }
  state.file.onchange = () => take(state, state.file.files)
  state.clear.onclick = () => emptied(state)
  const own = (event) => event.key === "Escape" || event.stopPropagation() // Escape closes the dialog
  for (const each of [box, state.file, state.clear]) each.onkeydown = own
}

function build(root, data, set) {
  const box = element("textarea", "box")
  box.rows = data.rows
  box.spellcheck = false
  box.setAttribute("aria-label", data.label)
  box.placeholder = data.placeholder
  const file = element("input", "file")
  file.type = "file"
  file.setAttribute("aria-label", "Choose a file")
  const row = element("div", "row")
  const held = element("span", "held")
  const clear = button("Clear", "Clear the box", null)
  clear.hidden = true
  const said = element("p", "said")
  said.setAttribute("role", "status")
  row.append(file, held, clear, said)
  root.replaceChildren(box, row)
  const state = { root, box, file, held, clear, said, set, number: data.number, timer: 0 }
  listen(state)
  if (data.focus) setTimeout(() => box.focus(), 50) // after the dialog itself has taken the focus
  return state
}

function mount({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".bring")
  if (!root || !data) return undefined
  const known = states.get(root)
  const state = known ?? build(root, data, setTriggerValue)
  states.set(root, state)
  state.set = setTriggerValue
  // An answer to an earlier text is not shown below a newer one.
  if (data.number === state.number) state.said.textContent = data.said
  // A text that a closed dialog sends late would interrupt the run of the page that is open then.
  return known ? undefined : () => clearTimeout(state.timer)
}

export default function host(component) {
  if (component !== undefined) return mount(component)
  return { render() {} }
}
