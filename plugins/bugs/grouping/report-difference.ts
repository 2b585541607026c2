/**
 * A property that divides the reports of a group, for a split (contract 20, merge and split). Every
 * later report is matched, so reading a value must be linear.
 */
import { compileLinearPattern, type LinearPattern } from '../../../lib/text/linear-pattern.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { findFirstFrame } from './stack-trace.js';
import { normalizeFunction, normalizeOrigin } from './origin.js';

export const DIFFERENCE_FIELDS = [
  'exception_class',
  'file',
  'function',
  'message',
  'app_version',
  'environment',
  'host',
  'tag',
] as const;

/** `message`: RE2 pattern; others: equality. */
export type DifferenceField = (typeof DIFFERENCE_FIELDS)[number];

export interface Difference {
  field: DifferenceField;
  /** Any may match. */
  values: string[];
}

export interface DifferenceSubject {
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

const toNonEmptyList = (text: string | null | undefined): string[] => (text ? [text] : []);

const listFiles = ({ file_path, stack_trace }: DifferenceSubject): string[] => {
  if (file_path) return toNonEmptyList(normalizeOrigin(file_path));
  const frame = stack_trace ? findFirstFrame(stack_trace) : null;
  return frame?.file ? toNonEmptyList(normalizeOrigin(frame.file)) : [];
};

const listFunctions = ({ function_name, stack_trace }: DifferenceSubject): string[] => {
  if (function_name) return toNonEmptyList(normalizeFunction(function_name));
  const name = stack_trace ? findFirstFrame(stack_trace)?.function : null;
  return name ? toNonEmptyList(normalizeFunction(name)) : [];
};

const VALUE_READERS: Record<Exclude<DifferenceField, 'message'>, (of: DifferenceSubject) => readonly string[]> = {
  exception_class: (of) => toNonEmptyList(of.exception_class),
  file: listFiles,
  function: listFunctions,
  app_version: (of) => toNonEmptyList(of.app_version),
  environment: (of) => toNonEmptyList(of.environment),
  host: (of) => toNonEmptyList(of.host),
  tag: (of) => of.tags ?? [],
};

export const listDifferenceValues = (
  field: Exclude<DifferenceField, 'message'>,
  of: DifferenceSubject,
): readonly string[] => VALUE_READERS[field](of);

const MAX_COMPILED_PATTERNS = 500;
const compiledPatterns = new BoundedMap<LinearPattern>({ most: MAX_COMPILED_PATTERNS });

/** @throws PatternProblem */
export function compileMessagePattern(pattern: string): LinearPattern {
  const before = compiledPatterns.get(pattern);
  if (before !== undefined) return before;
  const made = compileLinearPattern(pattern, false);
  compiledPatterns.set(pattern, made);
  return made;
}

export function matchesDifference({ field, values }: Difference, of: DifferenceSubject): boolean {
  if (field === 'message') return values.some((pattern) => compileMessagePattern(pattern).test(of.error_message ?? ''));
  const own = listDifferenceValues(field, of);
  return values.some((value) => own.includes(value));
}
