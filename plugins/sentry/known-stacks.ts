/**
 * What an event's context keeps of its frames. A storm brings the same frames with each event: what was kept of them is
 * given again, as the very same objects, instead of being made, measured and scrubbed anew.
 */
import { BoundedMap } from '../../lib/bounded-map.js';
import { share } from '../../lib/json/shared-json.js';
import type { Json } from '../../ports/store.js';
import type { StackFrame } from './frames.js';

/** What is kept of frames. */
export interface KeptFrames {
  /** Lines of source of the frame that the error comes from. */
  source: { readonly [line: string]: Json } | null;
  frames: Json[] | null;
}

/** Stacks. */
const MOST_KNOWN = 250;
/** Frames of a stack that is remembered, and their characters: a larger one takes the room of many. */
const MOST_FRAMES = 64;
const MOST_CHARACTERS = 24_576;

interface KnownStack {
  stack: readonly StackFrame[];
  kept: KeptFrames;
}

export class KnownStacks {
  readonly #known = new BoundedMap<KnownStack>({ most: MOST_KNOWN });

  /**
   * @param own the frame that the error comes from
   * @param make reads nothing but the frames
   */
  kept(stack: readonly StackFrame[], own: StackFrame, make: () => KeptFrames): KeptFrames {
    if (stack.length > MOST_FRAMES) return make();
    const name = `${own.place}:${own.line}:${stack.length}`;
    const known = this.#known.get(name);
    if (known !== undefined && stack.every((frame, i) => isSame(known.stack[i] as StackFrame, frame)))
      return known.kept;
    const kept = make();
    if (stack.reduce((sum, { given }) => sum + weightOf(given), 0) > MOST_CHARACTERS) return kept;
    if (kept.source !== null) share(kept.source);
    if (kept.frames !== null) share(kept.frames);
    this.#known.set(name, { stack, kept });
    return kept;
  }
}

type Given = StackFrame['given'];

/**
 * Characters of a frame; infinite where it holds more than texts, numbers and lists of them: variables differ each
 * time.
 */
function weightOf(given: Given): number {
  let sum = 0;
  for (const name in given) {
    const value = given[name];
    sum += name.length;
    for (const part of Array.isArray(value) ? (value as unknown[]) : [value]) sum += weightOfPart(part);
  }
  return sum;
}

const weightOfPart = (part: unknown): number =>
  typeof part === 'string' ? part.length : typeof part === 'object' && part !== null ? Infinity : 8;

/** @param a one that is plain */
const isSame = (a: StackFrame, b: StackFrame): boolean =>
  a.line === b.line &&
  a.code === b.code &&
  a.module === b.module &&
  a.inApp === b.inApp &&
  isSameGiven(a.given, b.given);

function isSameGiven(a: Given, b: Given): boolean {
  let more = 0;
  for (const name in b) {
    if (!isSameValue(a[name], b[name])) return false;
    more++;
  }
  for (const _ in a) more--;
  return more === 0;
}

function isSameValue(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b;
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
