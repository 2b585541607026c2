/**
 * A property in which the reports of a group differ, with the values that select a part of them. A
 * split names it (contract 20, merge and split). Every later report is matched against it, so
 * reading a value must be linear.
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

/** `message` is matched by a pattern (RE2 syntax); all other fields by equality. */
export type Respect = (typeof RESPECTS)[number];

export interface Difference {
  field: Respect;
  /** At least one must match. */
  values: string[];
}

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

export const listDifferenceValues = (field: Exclude<Respect, 'message'>, of: Differing): readonly string[] =>
  VALUES[field](of);

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

export function isOfPart({ field, values }: Difference, of: Differing): boolean {
  if (field === 'message') return values.some((pattern) => compileMessagePattern(pattern).test(of.error_message ?? ''));
  const own = listDifferenceValues(field, of);
  return values.some((value) => own.includes(value));
}
