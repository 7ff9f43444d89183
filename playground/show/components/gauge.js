// A half-circle gauge with a threshold. Plain SVG: a charting bundle would freeze the page to load.

const NAMESPACE = "http://www.w3.org/2000/svg"
const RADIUS = 80

function shape(tag, attributes, text) {
  const node = document.createElementNS(NAMESPACE, tag)
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
  if (text !== undefined) node.textContent = text
  return node
}

function point(share, radius) {
  const angle = Math.PI * (1 - Math.min(1, Math.max(0, share)))
  return [100 + radius * Math.cos(angle), 96 - radius * Math.sin(angle)]
}

function arc(share, className) {
  const [x, y] = point(share, RADIUS)
  return shape("path", { d: `M20 96 A${RADIUS} ${RADIUS} 0 0 1 ${x} ${y}`, class: className })
}

function mount({ data, parentElement }) {
  const root = parentElement.querySelector(".gauge")
  if (!root || !data) return
  const top = Math.max(2 * data.threshold, 1.1 * data.value)
  const [x1, y1] = point(data.threshold / top, RADIUS - 14)
  const [x2, y2] = point(data.threshold / top, RADIUS + 10)
  const svg = shape("svg", { viewBox: "0 0 200 132", role: "img" })
  svg.append(
    shape("title", {}, `${grouped(data.value)} of ${grouped(data.threshold)} characters`),
    arc(1, "track"),
    arc(data.value / top, data.value >= data.threshold ? "bar reached" : "bar"),
    shape("line", { x1, y1, x2, y2, class: "threshold" }),
    shape("text", { x: 100, y: 90, class: "value" }, grouped(data.value)),
    shape("text", { x: 100, y: 112, class: "note" }, `characters; Gemini: ${grouped(data.threshold)}`),
  )
  root.replaceChildren(svg)
}

export default function host(component) {
  if (component !== undefined) return mount(component)
  return {
    render({ model, el }) {
      const root = document.createElement("div")
      root.className = "gauge"
      el.append(root)
      mount({ data: model.get("data"), parentElement: el })
    },
  }
}
