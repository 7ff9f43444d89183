// The difference of two texts, word by word.

const WORD = /\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu
const SENTENCE = /[^.!?;\n]*[.!?;\n]+\s*|[^.!?;\n]+/gu
const PAIRS = 400000 // words of one text times words of the other: the time of matching grows with it

// Return pairs [change, text], in order; change is "same", "ins" or "del"
function wordChanges(before, after) {
  const left = before.match(WORD) ?? []
  const right = after.match(WORD) ?? []
  const least = Math.min(left.length, right.length)
  let head = 0
  while (head < least && left[head] === right[head]) head += 1
  let tail = 0
  while (tail < least - head && left.at(-1 - tail) === right.at(-1 - tail)) tail += 1
  const pieces = [
    ...left.slice(0, head).map((word) => ["same", word]),
    ...changed(left.slice(head, left.length - tail), right.slice(head, right.length - tail)),
    ...left.slice(left.length - tail).map((word) => ["same", word]),
  ]
  return joined(pieces)
}

// Match the words; if they are many, match sentences first, then the words of changed sentences
function changed(left, right) {
  if (left.length * right.length <= PAIRS) return matched(left, right)
  const pieces = []
  let [gone, come] = ["", ""]
  const match = () => {
    pieces.push(...matched(gone.match(WORD) ?? [], come.match(WORD) ?? []))
    gone = come = ""
  }
  const sentences = [left, right].map((words) => words.join("").match(SENTENCE) ?? [])
  for (const [change, text] of matched(...sentences)) {
    if (change === "del") gone += text
    else if (change === "ins") come += text
    else {
      match()
      pieces.push([change, text])
    }
  }
  match()
  return pieces
}

// Match by the longest common subsequence: lengths[i][j] is its length from left[i] and right[j] on
function matched(left, right) {
  const gone = left.map((word) => ["del", word])
  const come = right.map((word) => ["ins", word])
  if (!gone.length || !come.length || gone.length * come.length > PAIRS) return [...gone, ...come]
  const wide = right.length + 1
  const lengths = new Uint16Array((left.length + 1) * wide)
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      const at = i * wide + j
      lengths[at] =
        left[i] === right[j]
          ? lengths[at + wide + 1] + 1
          : Math.max(lengths[at + wide], lengths[at + 1])
    }
  }
  const pieces = []
  let i = 0
  let j = 0
  while (i < left.length && j < right.length) {
    const at = i * wide + j
    if (left[i] === right[j]) {
      pieces.push(["same", left[i]])
      i += 1
      j += 1
    } else if (lengths[at + wide] >= lengths[at + 1]) {
      pieces.push(gone[i])
      i += 1
    } else {
      pieces.push(come[j])
      j += 1
    }
  }
  return [...pieces, ...gone.slice(i), ...come.slice(j)]
}

function joined(pieces) {
  const runs = []
  for (const [change, text] of pieces) {
    const last = runs.at(-1)
    if (last?.[0] === change) last[1] += text
    else runs.push([change, text])
  }
  return runs
}
