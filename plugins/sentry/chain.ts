/**
 * The exceptions of an event: which one gives the title, and how the others belong to it (contract 21, Sentry SDK
 * intake). Pure.
 */
import { framesOf, type StackFrame } from './frames.js';
import { line, record, records, shallow, text, type Loose } from './values.js';

/** `wrapper`: it was put around the one before. `member`: one of the errors that the first one holds. */
export type Relation = 'cause' | 'member' | 'wrapper';

/** One exception of a chain. */
export interface Thrown {
  /** Null where it has no name of its own. */
  type: string | null;
  value: string | null;
  /** The crash frame first. */
  frames: readonly StackFrame[];
  /** To those before it; of the first it says nothing. */
  relation: Relation;
  /** How many groups it lies in: 1 for a member of the outermost group, and for what caused that member. */
  level: number;
}

/** Exceptions read from a chain of causes. */
const MOST_THROWN = 10;

/**
 * Types of Go that only carry another error or a text: of the standard library, `pkg/errors`, `xerrors` and the like.
 */
const NAMELESS =
  /^[*&]?(?:[\w./-]{1,200}\.)?(?:with(?:Stack|Message|Prefix|Detail|Hint|Context)|wrap(?:ped)?Errors?|noWrapError|joinError|errorString|errorT|fundamental|opaque(?:Wrapper|Leaf|LeafCauses))$/;

/** An exception's text. Some SDKs send objects and lists instead. */
function valueOf(exception: Loose): string | null {
  const value = exception['value'];
  return record(value) !== null || Array.isArray(value) ? JSON.stringify(shallow(value)) : text(value);
}

function thrownOf(exception: Loose, groups: ReadonlySet<unknown>, levels: Map<unknown, number>): Thrown {
  const type = line(exception['type']);
  const mechanism = record(exception['mechanism']);
  const source = line(mechanism?.['source']) ?? '';
  // A group has a cause too, which is none of its members.
  const isMember = groups.has(mechanism?.['parent_id']) && !/cause|context/i.test(source);
  // The parent stands before: an id that names a later one, or the exception itself, leads nowhere.
  const level = (levels.get(mechanism?.['parent_id']) ?? 0) + (isMember ? 1 : 0);
  const id = mechanism?.['exception_id'];
  if (id !== undefined && !levels.has(id)) levels.set(id, level);
  return {
    type: type !== null && NAMELESS.test(type) ? null : type,
    value: valueOf(exception),
    frames: framesOf(exception['stacktrace']),
    relation: isMember ? 'member' : 'cause',
    level,
  };
}

/** The exceptions of an event, the one that gives the title first; none for an event without. */
export function chainOf(event: Loose): Thrown[] {
  const given = records(event['exception']).slice(-MOST_THROWN).reverse();
  const mechanisms = given.map((exception) => record(exception['mechanism']));
  const groups = new Set(
    mechanisms.filter((one) => one?.['is_exception_group'] === true).map((one) => one?.['exception_id']),
  );
  const levels = new Map<unknown, number>();
  return titledFirst(
    given.map((exception) => thrownOf(exception, groups, levels)),
    given,
  );
}

/** Wrappers without a name of their own come behind what they wrap, which takes the stack that was kept for it. */
function titledFirst(chain: readonly Thrown[], given: readonly Loose[]): Thrown[] {
  let wrapped = 0;
  while (isWrapper(given[wrapped]) && chain[wrapped + 1]?.relation === 'cause') wrapped++;
  const [outermost] = chain;
  const titled = chain[wrapped];
  if (outermost === undefined || titled === undefined || !isWrapper(given[0])) return [...chain];
  const isNamed = titled.type !== null;
  // The innermost stack was taken where the error was made.
  const from =
    titled.frames.length > 0 ? wrapped : chain.findLastIndex(({ frames }, i) => i < wrapped && frames.length > 0);
  const first = { ...titled, value: isNamed ? titled.value : outermost.value, frames: chain[from]?.frames ?? [] };
  const wrappers = chain
    .slice(0, wrapped)
    .map((wrapper, i) => reframed(wrapper, i === from ? [] : wrapper.frames, 'wrapper'))
    .filter(({ value, frames }) => frames.length > 0 || (value !== null && value !== first.value));
  return [first, ...chain.slice(wrapped + 1), ...wrappers.reverse()];
}

/** The frames of all exceptions. Most events have one, whose own they are. */
export const framesOfAll = (chain: readonly Thrown[]): readonly StackFrame[] =>
  chain.length === 1 ? (chain[0] as Thrown).frames : chain.flatMap(({ frames }) => frames);

/** The same with other frames. */
export const reframed = (
  { type, value, relation: before, level }: Thrown,
  frames: readonly StackFrame[],
  relation = before,
): Thrown => ({ type, value, frames, relation, level });

const isWrapper = (exception: Loose | undefined): boolean => NAMELESS.test(line(exception?.['type']) ?? '');

const HEADING = 500;

/** `Type: first line of the message` */
export const headingOf = ({ type, value }: Thrown): string =>
  [type, line(value?.slice(0, HEADING))].filter((part) => part !== null).join(': ');
