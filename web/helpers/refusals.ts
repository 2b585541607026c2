/**
 * Errors of a rejected form, shown only in that form: a page may contain several with equal field
 * names, so the form is identified by its action.
 */
import { plain, split, type Helper } from './html.js';

interface RefusedForm {
  at: string;
  fields: Readonly<Record<string, string>>;
  typed: unknown;
}

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
  wrong: (...args) => {
    const { values, root } = split(args);
    return own(refusedAt(root, values[1])?.fields, values[0]) ?? '';
  },
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
