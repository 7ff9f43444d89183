// The box of a block that is edited in place: its texts, the possible changes, and why a text was
// refused. The browser has the text until the user keeps it; the page shows the draft's effects.

const PAUSE = 60 // milliseconds after the last key
const KEPT = "playground draft in place" // key of the draft that outlasts a reload
const QUICK = { Earlier: "↑", Later: "↓", "Add a message after": "+", "Remove this message": "×" }
const SOURCES = /^(message:|tool:|(agent|system|user-prompt|environment)$)/

class EditBox {
  constructor(editing, send) {
    Object.assign(this, { number: editing.number, origin: editing.origin, send })
    this.node = element("div", "block editing")
    this.node.dataset.origin = this.origin
    this.fields = editing.fields.map((field) => this.field(field))
    this.said = element("span", "said")
    this.said.setAttribute("role", "status")
    const bar = element("div", "edit-bar")
    bar.append(this.said, ...this.changes(editing.changes))
    bar.append(button("Leave Esc", "Leave as it was (Esc)", () => this.leave()))
    bar.append(button("Keep Ctrl ↵", "Keep (Ctrl+Enter)", () => this.keep()))
    this.node.append(bar)
    this.node.onkeydown = (event) => this.key(event)
    // A click outside of the box keeps the text; a change to another window does not.
    this.node.onfocusout = ({ relatedTarget }) => {
      if (!this.node.contains(relatedTarget) && document.hasFocus() && !this.refused) this.keep()
    }
    this.note(editing)
    this.takeUp()
  }

  // Restore the text that was typed before a reload
  takeUp() {
    const kept = keptDraft()
    if (kept?.origin !== this.origin) return
    for (const [at, { area, form }] of this.fields.entries()) {
      const [text, whole] = kept.texts[at] ?? [area.value, false]
      if (whole) form?.click()
      area.value = text
    }
    if (this.isChanged()) this.typed()
  }

  field({ label, text, json, whole }) {
    const area = element("textarea")
    Object.assign(area, { value: text, rows: 1, spellcheck: false })
    area.setAttribute("aria-label", label)
    const field = { area, whole: false, known: area.value, other: whole, label, json }
    area.oninput = () => this.typed()
    const line = element("div", "edit-label", json ? `${label}, JSON` : label)
    if (whole) {
      const form = button("as JSON", `${label}: all of it as JSON`, () => {
        if (area.value !== field.known) return this.say("Keep or leave this text first.")
        const shown = field.known
        field.whole = !field.whole
        area.value = field.other
        field.known = area.value
        field.other = shown
        form.setAttribute("aria-pressed", field.whole)
        return area.focus()
      })
      form.setAttribute("aria-pressed", false)
      field.form = form
      line.append(form)
    }
    this.node.append(line, area)
    return field
  }

  // Return the changes of the block: the frequent ones as buttons, the others as a list
  changes(labels) {
    const make = (label) => this.ask("change", { at: labels.indexOf(label), texts: this.texts() })
    const quick = labels.filter((label) => QUICK[label])
    const others = labels.filter((label) => !QUICK[label])
    const menu = chooser("Change", ["More …", ...others], (label) => {
      menu.selectedIndex = 0
      make(label)
    })
    menu.hidden = !others.length
    return [...quick.map((label) => button(QUICK[label], label, () => make(label))), menu]
  }

  texts() {
    return this.fields.map((field) => [field.area.value, field.whole])
  }

  isChanged() {
    return this.fields.some((field) => field.area.value !== field.known)
  }

  typed() {
    this.refused = false
    rememberDraft({ origin: this.origin, pane: this.pane, texts: this.texts() })
    this.onresize?.()
    clearTimeout(this.timer)
    this.version = (this.version ?? 0) + 1
    const draft = { number: this.number, version: this.version, texts: this.texts() }
    this.timer = setTimeout(() => this.send.draft(draft), PAUSE)
  }

  key(event) {
    event.stopPropagation() // the page's keys do not act while the user types
    if (event.isComposing) return
    const keeps = event.key === "Enter" && (event.ctrlKey || event.metaKey)
    if (event.key !== "Escape" && !keeps) return
    event.preventDefault()
    if (keeps) this.keep()
    else this.leave()
  }

  ask(what, more) {
    clearTimeout(this.timer)
    this.send.ask({ do: what, number: this.number, ...more })
  }

  // Send the texts; `then` names the block that is opened next
  keep(then) {
    if (this.isOver) return
    if (!this.isChanged() && !then) return this.leave()
    this.ask("keep", { texts: this.texts(), ...then })
    if (this.isRead) this.end() // the columns show this text already, so the box closes at once
    return undefined
  }

  end() {
    this.isOver = true
    rememberDraft(null)
    this.onend()
  }

  leave() {
    if (this.isOver) return
    this.ask("leave", {})
    this.end()
  }

  note({ fault, version }) {
    this.isRead = !fault && Boolean(version) && version === this.version
    this.refused = Boolean(fault)
    this.node.classList.toggle("refused", this.refused)
    this.say(fault ? `${visible(fault)}. The columns show the text before this edit.` : "Every column follows.")
  }

  say(text) {
    if (this.said.textContent !== text) this.said.textContent = text
  }

  // Focus the box once, when it is in the page
  focusOnce() {
    if (this.wasFocused || !this.node.isConnected) return
    this.wasFocused = true
    const { area } = this.fields[0]
    area.focus({ preventScroll: true })
    area.setSelectionRange(area.value.length, area.value.length)
  }
}

function rememberDraft(draft) {
  remember(KEPT, draft && { ...draft, of: address() })
}

// Return the draft of this address; undefined if there is none
function keptDraft() {
  const draft = remembered(KEPT)
  return draft.of === address() ? draft : undefined
}

function address() {
  return location.pathname + new URLSearchParams(location.search).get("session")
}
