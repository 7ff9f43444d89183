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
