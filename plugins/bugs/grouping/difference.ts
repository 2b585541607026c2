/**
 * One respect in which the reports of a group differ, with the values that mark a part of them: environment `staging`,
 * or a pattern that the message has. A split names it (contract 20, merge and split), and every later report of the
 * group is asked for it, so reading a value is cheap and linear. Pure.
 */
import { compileLinearPattern, type LinearPattern } from '../../../lib/text/linear-pattern.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { findFirstFrame } from './frames.js';
import { normalizeFunction, normalizeOrigin } from './origin.js';

export const RESPECTS = [
  'exception_class',
  'file',
  'function',
  'message',
  'app_version',
  'environment',
  'host',
  'tag',
] as const;

/** `message` is searched for a pattern (RE2 syntax); of all others the value must be equal. */
export type Respect = (typeof RESPECTS)[number];

export interface Difference {
  field: Respect;
  /** One of them fits. */
  values: string[];
}

/** The texts of a report, or of a kept occurrence, that a difference may be about. */
export interface Differing {
  exception_class?: string | null;
  error_message?: string | null;
  file_path?: string | null;
  function_name?: string | null;
  stack_trace?: string | null;
  app_version?: string | null;
  environment?: string | null;
  host?: string | null;
  tags?: readonly string[];
}

const filled = (text: string | null | undefined): string[] => (text ? [text] : []);

const fileOf = ({ file_path, stack_trace }: Differing): string[] => {
  if (file_path) return filled(normalizeOrigin(file_path));
  const frame = stack_trace ? findFirstFrame(stack_trace) : null;
  return frame?.file ? filled(normalizeOrigin(frame.file)) : [];
};

const functionOf = ({ function_name, stack_trace }: Differing): string[] => {
  if (function_name) return filled(normalizeFunction(function_name));
  const name = stack_trace ? findFirstFrame(stack_trace)?.function : null;
  return name ? filled(normalizeFunction(name)) : [];
};

const VALUES: Record<Exclude<Respect, 'message'>, (of: Differing) => readonly string[]> = {
  exception_class: (of) => filled(of.exception_class),
  file: fileOf,
  function: functionOf,
  app_version: (of) => filled(of.app_version),
  environment: (of) => filled(of.environment),
  host: (of) => filled(of.host),
  tag: (of) => of.tags ?? [],
};

/** The values of a report; the respect `message` has none, only patterns. */
export const listDifferenceValues = (field: Exclude<Respect, 'message'>, of: Differing): readonly string[] =>
  VALUES[field](of);

/** Patterns in use, compiled once. */
const PATTERNS = 500;
const compiled = new BoundedMap<LinearPattern>({ most: PATTERNS });

/** @throws PatternProblem */
export function compileMessagePattern(pattern: string): LinearPattern {
  const before = compiled.get(pattern);
  if (before !== undefined) return before;
  const made = compileLinearPattern(pattern, false);
  compiled.set(pattern, made);
  return made;
}

/** Whether the report is of the part that the difference names. */
export function isOfPart({ field, values }: Difference, of: Differing): boolean {
  if (field === 'message') return values.some((pattern) => compileMessagePattern(pattern).test(of.error_message ?? ''));
  const own = listDifferenceValues(field, of);
  return values.some((value) => own.includes(value));
}
