// Rows of bars. Those of policies are drawn by the page's strip, next to its findings.

function mount({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".bars")
  if (!root || !data) return undefined
  root.classList.add("still")
  if (!data.title) return root.replaceChildren(...barRows(data.rows))
  const offer = (policies) => document.dispatchEvent(new CustomEvent("playground-policies", { detail: (globalThis.playgroundPolicies = policies) }))
  offer({ ...data, take: (key) => setTriggerValue("chosen", key) })
  return () => offer(null)
}

export default function host(component) {
  return hosted(component, "bars", mount)
}
