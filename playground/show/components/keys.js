// Keys that work wherever the focus is, but never while somebody types or a dialog is open.
// Those of a component go to it in the browser; the others to the page, which runs again.
// And what else counts on every page: what is cut is told whole.

const FIELDS =
  "input:not([type=checkbox], [type=radio], [type=button], [type=range]), textarea, select, " +
  "[contenteditable=true], [role=combobox], [role=listbox], [role=menu], [role=textbox]"
const PRESSED = "button, a, summary, [role=tab], [role=button], [role=option], input"
const INSIDE = ["/", " ", "[", "]", "ArrowLeft", "ArrowRight", "Home", "End"]
const places = new WeakMap()

// `target` stops at a shadow tree: the path leads into it
function isBusy(event) {
  const target = event.composedPath()[0]
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true
  if (event.repeat || event.isComposing || document.querySelector("[role=dialog]")) return true
  if (!target.closest) return false
  if (target.closest(FIELDS)) return true
  const moves = /^(Arrow|Home|End)/.test(event.key)
  const scrolls = moves && target.matches('[tabindex="0"]')
  return scrolls || Boolean((moves || event.key === " ") && target.closest(PRESSED))
}

// What is cut, such as a long name in a field, is told whole where one points at it
function tellWhole(event) {
  const node = event.composedPath()[0]
  if (!(node instanceof Element) || (node.title && node.title !== node.dataset.whole)) return
  const hides = node.matches("input") || getComputedStyle(node).textOverflow === "ellipsis"
  const isCut = hides && node.scrollWidth > node.clientWidth + 1
  node.dataset.whole = isCut ? node.value || node.placeholder || node.textContent : ""
  node.title = node.dataset.whole
}

function mount({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".keys")
  if (!root || !data) return undefined
  const known = places.get(root)
  const place = known ?? {}
  places.set(root, place)
  // after a page was chosen by a key, the focus begins at its heading
  if (place.moved && place.page !== data.page) {
    const heading = document.querySelector("h1")
    if (heading) Object.assign(heading, { tabIndex: -1 }).focus()
    place.moved = false
  }
  Object.assign(place, { page: data.page, keys: data.keys, send: setTriggerValue })
  if (known) return undefined
  const listen = (event) => {
    if (!place.keys.length || isBusy(event)) return
    if (INSIDE.includes(event.key)) {
      const sent = new CustomEvent("playground-key", { detail: event.key, cancelable: true })
      if (!document.dispatchEvent(sent)) event.preventDefault()
    } else if (place.keys.includes(event.key)) {
      event.preventDefault()
      place.moved = /\d/.test(event.key)
      place.send("pressed", event.key)
    }
  }
  document.addEventListener("keydown", listen)
  document.addEventListener("pointerover", tellWhole)
  return () => {
    document.removeEventListener("keydown", listen)
    document.removeEventListener("pointerover", tellWhole)
  }
}

export default function host(component) {
  return component === undefined ? { render: () => {} } : mount(component)
}
