// Figures that were computed after their columns were drawn: an event tells the page's grid.

export default function host(component) {
  if (component === undefined) return { render: () => {} }
  const { figures } = component.data ?? {}
  if (figures) document.dispatchEvent(new CustomEvent("playground-figures", { detail: figures }))
  return undefined
}
