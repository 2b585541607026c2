/**
 * Errors of a rejected form, shown only in that form: a page may contain several with equal field
 * names, so the form is identified by its action.
 */
import { toText, splitArguments, type Helper } from './html.js';

interface RejectedForm {
  at: string;
  fields: Readonly<Record<string, string>>;
  typed: unknown;
}

function toPath(address: string): string {
  const path = address.replace(/[?#].*$/s, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function findRejectedForm(root: Record<string, unknown>, action: unknown): RejectedForm | null {
  const rejectedForm = root['refused'] as RejectedForm | null | undefined;
  return rejectedForm && toPath(rejectedForm.at) === toPath(toText(action)) ? rejectedForm : null;
}

const getOwnValue = (from: unknown, name: unknown): unknown =>
  typeof from === 'object' && from !== null && Object.hasOwn(from, toText(name))
    ? (from as Record<string, unknown>)[toText(name)]
    : undefined;

export const formErrorHelpers: Record<string, Helper> = {
  wrong: (...args) => {
    const { values, root } = splitArguments(args);
    return getOwnValue(findRejectedForm(root, values[1])?.fields, values[0]) ?? '';
  },
  'typed-in': (...args) => {
    const { values, root } = splitArguments(args);
    const value = getOwnValue(findRejectedForm(root, values[1])?.typed, values[0]);
    return typeof value === 'string' ? value : '';
  },
  'refused-at': (...args) => {
    const { values, root } = splitArguments(args);
    return findRejectedForm(root, values[0]) !== null;
  },
};
