/** The crashed one first, others collapsed; all content is untrusted. */
import type { Json } from '../../../../ports/store/index.js';
import { buildTrace, type TraceView } from '../trace/trace-view.js';

export interface ThreadView {
  name: string;
  /** `crashed`, `current`, `main` and the state, as text. */
  states: string[];
  trace: TraceView | null;
  crashed: boolean;
}

const MAX_THREADS = 32;
const MAX_TEXT_LENGTH = 200;
const MAX_STACK_LENGTH = 16_384;

type Fields = { [key: string]: Json | undefined };
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const toText = (value: Json | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, MAX_TEXT_LENGTH) : '';

export function buildThreadViews(context: Json): ThreadView[] {
  const given = isFields(context) ? context['threads'] : null;
  const threads = Array.isArray(given) ? given.filter(isFields) : [];
  return threads
    .slice(0, MAX_THREADS)
    .map(toThreadView)
    .toSorted((a, b) => Number(b.crashed) - Number(a.crashed));
}

function toThreadView(thread: Fields): ThreadView {
  const { crashed, current, main, stack, locks } = thread;
  const name = toText(thread['name']);
  const id = toText(thread['id']);
  const states = [
    crashed === true ? 'crashed' : '',
    current === true && crashed !== true ? 'current' : '',
    main === true ? 'main' : '',
    toText(thread['state']).toLowerCase(),
    typeof locks === 'number' && locks > 0 ? (locks === 1 ? 'holds a lock' : `holds ${locks} locks`) : '',
  ];
  return {
    name: name === '' ? `Thread ${id}` : id === '' ? name : `${name} (${id})`,
    states: states.filter((state) => state !== ''),
    trace: typeof stack === 'string' ? buildTrace(stack.slice(0, MAX_STACK_LENGTH)) : null,
    crashed: crashed === true,
  };
}
