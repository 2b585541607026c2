/**
 * What was refused of a form, told to that form alone: a page may hold several with controls of one name, and the form
 * that was sent is known by its address. Pure.
 */
import { plain, split, type Helper } from './html.js';

/** At the root of every view whose form was refused. */
interface RefusedForm {
  /** The path that it was sent to. */
  at: string;
  /** Control → text. */
  fields: Readonly<Record<string, string>>;
  /** What was sent. */
  typed: unknown;
}

/** Without query and fragment, and however it is escaped. */
function pathOf(address: string): string {
  const path = address.replace(/[?#].*$/s, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function refusedAt(root: Record<string, unknown>, action: unknown): RefusedForm | null {
  const refused = root['refused'] as RefusedForm | null | undefined;
  return refused && pathOf(refused.at) === pathOf(plain(action)) ? refused : null;
}

const own = (from: unknown, name: unknown): unknown =>
  typeof from === 'object' && from !== null && Object.hasOwn(from, plain(name))
    ? (from as Record<string, unknown>)[plain(name)]
    : undefined;

export const refusals: Record<string, Helper> = {
  /** `{{wrong "reason" action}}`: the fault of a control of the form with this address; '' when there is none. */
  wrong: (...args) => {
    const { values, root } = split(args);
    return own(refusedAt(root, values[1])?.fields, values[0]) ?? '';
  },
  /** `{{typed-in "reason" action}}`: what was written into it; '' where this form was not refused. */
  'typed-in': (...args) => {
    const { values, root } = split(args);
    const value = own(refusedAt(root, values[1])?.typed, values[0]);
    return typeof value === 'string' ? value : '';
  },
  'refused-at': (...args) => {
    const { values, root } = split(args);
    return refusedAt(root, values[0]) !== null;
  },
};
