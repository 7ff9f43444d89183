// Keys that work wherever the focus is, except while the user types or a dialog is open. A
// component handles its keys in the browser; for the others the page runs again. Also on every page:
// a text that is cut has its full length as tooltip, and a text in an editor that still has the focus
// is restored after a reload.

const FIELDS =
  "input:not([type=checkbox], [type=radio], [type=button], [type=range]), textarea, select, " +
  "[contenteditable=true], [role=combobox], [role=listbox], [role=menu], [role=textbox]"
const PRESSED = "button, a, summary, [role=tab], [role=button], [role=option], input"
const INSIDE = ["/", " ", "[", "]", "f", "F", "ArrowLeft", "ArrowRight", "Home", "End"]
const LATER = 1500 // milliseconds in which a second key joins the first, as in `g c`
const EDITORS = "[data-testid=stTextArea] textarea"
const DRAFT = "playground draft" // key of an editor's text that outlasts a reload
const places = new WeakMap()

// Return true if the page's keys must not act. The event's path also has nodes in shadow trees
function isBusy(event) {
  const target = event.composedPath()[0] ?? event.target // the path of an early key is empty by now
  if (event.defaultPrevented || event.altKey) return true
  if (event.repeat || event.isComposing || document.querySelector("[role=dialog]")) return true
  if (!target.closest) return false
  if (target.closest(FIELDS)) return true
  const moves = /^(Arrow|Home|End)/.test(event.key)
  const scrolls = moves && target.matches('[tabindex="0"]')
  return scrolls || Boolean((moves || event.key === " ") && target.closest(PRESSED))
}

// Give a text that is cut, such as a long name in a field, a tooltip with the whole text
function tellWhole(event) {
  const node = event.composedPath()[0]
  if (!(node instanceof Element) || (node.title && node.title !== node.dataset.whole)) return
  const hides = node.matches("input") || getComputedStyle(node).textOverflow === "ellipsis"
  const isCut = hides && node.scrollWidth > node.clientWidth + 1
  node.dataset.whole = isCut ? node.value || node.placeholder || node.textContent : ""
  node.title = node.dataset.whole
}

// The text of an editor. The app gets it only when the editor loses the focus, so a reload would lose it
class Draft {
  constructor() {
    this.node = null // the editor with the focus; `known` is the text that the app has
    this.known = ""
    this.watcher = new MutationObserver(() => this.bringBack())
    this.listeners = {
      focusin: ({ target }) => this.begin(target),
      keydown: (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && this.begin(event.target),
    }
  }

  begin(node) {
    if (node.matches?.(EDITORS)) Object.assign(this, { node, known: node.value })
  }

  keep() {
    const { node, known } = this
    if (!node || node !== document.activeElement || node.value === known) return
    remember(DRAFT, { ...this.place(node), known, text: node.value })
  }

  place(node) {
    const session = new URLSearchParams(location.search).get("session")
    return { page: location.pathname, session, label: node.getAttribute("aria-label") }
  }

  // Put the text back into its editor, once that is in the page with the text that the app has
  bringBack() {
    const { text, ...draft } = remembered(DRAFT)
    if (draft.page !== location.pathname) return this.forget() // the user went to another page
    const wanted = JSON.stringify(draft)
    const isIts = (node) => JSON.stringify({ ...this.place(node), known: node.value }) === wanted
    const node = [...document.querySelectorAll(EDITORS)].find(isIts)
    if (!node) return
    this.forget()
    node.focus()
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value").set.call(node, text)
    node.dispatchEvent(new Event("input", { bubbles: true }))
  }

  forget() {
    this.watcher.disconnect()
    remember(DRAFT, null)
  }

  listen() {
    for (const [name, act] of Object.entries(this.listeners)) document.addEventListener(name, act)
    this.leave = () => this.keep()
    addEventListener("beforeunload", this.leave)
    if (!remembered(DRAFT).page) return
    this.watcher.observe(document.body, { childList: true, subtree: true })
    this.bringBack()
  }

  stop() {
    for (const [name, act] of Object.entries(this.listeners)) document.removeEventListener(name, act)
    removeEventListener("beforeunload", this.leave)
    this.watcher.disconnect()
  }
}

// Make each action of the user one step of Back. When a page is left, Streamlit 1.67 pushes three
// addresses: this page's without values, the next page's, and that with its session. Keep the last one
function pushOnce() {
  if (history.pushState.once) return
  const push = history.pushState.bind(history)
  let isPushed = true // true if an address was pushed since the user's last action, or before the first
  const acted = (event) => (isPushed &&= !event.isTrusted)
  for (const kind of ["pointerdown", "keydown", "click", "change", "drop"]) addEventListener(kind, acted, true)
  addEventListener("popstate", () => (isPushed = true))
  history.pushState = (...address) => {
    if (isPushed) history.replaceState(...address)
    else push(...address)
    isPushed = true
  }
  history.pushState.once = true
}

const LINKS = "a[data-testid=stPageLink-NavLink]"
let [opened, next] = [-LATER, ""] // time of a click on a link that is still opening; the next link

// Delay a click on a link while the page of another is being opened, which would lose its session
function holdLink(event) {
  const link = event.target.closest?.(LINKS)
  if (!link || !event.isTrusted || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return
  if (event.timeStamp - opened > LATER) {
    opened = event.timeStamp
    return
  }
  event.preventDefault()
  event.stopPropagation()
  next = link.textContent
  setTimeout(openNext, LATER)
}

function openNext() {
  const link = next && [...document.querySelectorAll(LINKS)].find((each) => each.textContent === next)
  ;[opened, next] = [-LATER, ""]
  if (link) link.click()
}

let press = {} // the control under the pointer when it went down, and the place

function beginPress(event) {
  const node = event.isPrimary && !event.button ? event.composedPath()[0].closest?.("button, a, summary") : null
  press = { node, x: event.clientX, y: event.clientY }
}

// Click a control that moved or was replaced under the resting pointer, because its page is still
// being built: the browser would send the click to another element
function endPress(event) {
  const { node, x, y } = press
  press = {}
  if (!node || event.composedPath().includes(node) || Math.hypot(event.clientX - x, event.clientY - y) > 4) return
  const isSame = (each) => each.textContent === node.textContent && each.className === node.className
  const now = node.isConnected ? [node] : [...document.querySelectorAll(node.localName)].filter(isSame)
  if (now.length === 1) setTimeout(() => now[0].click()) // of several equal ones, none is known to be meant
}

function mount({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".keys")
  if (!root || !data) return undefined
  const known = places.get(root)
  const place = known ?? { began: -LATER }
  places.set(root, place)
  // After a key has opened a page, the focus goes to the page's heading.
  if (place.moved && place.page !== data.page) {
    const heading = document.querySelector("h1")
    if (heading) Object.assign(heading, { tabIndex: -1 }).focus()
    place.moved = false
  }
  if (place.page !== data.page) setTimeout(openNext)
  Object.assign(place, { page: data.page, keys: data.keys, send: setTriggerValue })
  if (known) return undefined
  const listen = (event) => {
    if (isBusy(event)) return
    if (event.ctrlKey || event.metaKey) {
      const undoes = event.shiftKey ? "redo" : "undo"
      const key = { z: undoes, enter: "run" }[event.key.toLowerCase()]
      if (!key) return
      event.preventDefault()
      place.send("pressed", key)
      return
    }
    const first = event.timeStamp - place.began < LATER ? "g" : ""
    place.began = -LATER
    const key = first + event.key
    if (!first && INSIDE.includes(key)) {
      const sent = new CustomEvent("playground-key", { detail: key, cancelable: true })
      if (!document.dispatchEvent(sent)) event.preventDefault()
    } else if (key === "g") {
      place.began = event.timeStamp
    } else if (place.keys.includes(key)) {
      event.preventDefault()
      place.moved = first === "g"
      if (key === "y") copyText(location.href)
      else if (key === "s") document.querySelector(".st-key-session input")?.focus()
      else place.send("pressed", key)
    }
  }
  pushOnce()
  document.addEventListener("keydown", listen)
  document.addEventListener("click", holdLink, true)
  document.addEventListener("pointerdown", beginPress, true)
  document.addEventListener("pointerup", endPress, true)
  window.earlyKeys?.forEach(listen) // keys that serving/guard.py stored before this was loaded
  window.earlyKeys = null
  document.addEventListener("pointerover", tellWhole)
  const draft = new Draft()
  draft.listen()
  return () => {
    draft.stop()
    window.earlyKeys = []
    document.removeEventListener("keydown", listen)
    document.removeEventListener("click", holdLink, true)
    document.removeEventListener("pointerdown", beginPress, true)
    document.removeEventListener("pointerup", endPress, true)
    document.removeEventListener("pointerover", tellWhole)
  }
}

export default function host(component) {
  return component === undefined ? { render: () => {} } : mount(component)
}
