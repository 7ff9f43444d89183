// A text, unchanged, with a button that copies all of it. Streamlit's own code block would load a
// highlighter of 1.5 MB, which takes longer than drawing the rest of the page.

const PIECE = 8000 // characters; the browser lays out only the pieces in sight

// Cut a text into pieces of whole lines; a line longer than PIECE is a piece of its own.
function pieces(text) {
  const found = []
  let start = 0
  while (text.length - start > PIECE) {
    let stop = text.lastIndexOf("\n", start + PIECE)
    if (stop < start) stop = text.indexOf("\n", start)
    if (stop < 0) break
    found.push(text.slice(start, stop))
    start = stop + 1
  }
  found.push(text.slice(start))
  return found
}

const drawn = new WeakMap()

export default function mount({ data, parentElement }) {
  const root = parentElement.querySelector(".verbatim")
  if (!root || !data || drawn.get(root) === data.text) return
  drawn.set(root, data.text)
  const shown = element("div", "shown")
  if (data.height) {
    shown.style.maxHeight = `${data.height}px`
    scrollable(shown, data.label)
  }
  shown.append(...pieces(data.text).map((piece) => element("pre", "", piece || "\n")))
  root.classList.toggle("copied", Boolean(data.label))
  root.replaceChildren(...(data.label ? [copyButton(data.label, () => data.text)] : []), shown)
}
