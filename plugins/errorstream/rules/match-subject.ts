import { getShortClassName } from '../../../lib/text/error-title.js';

export interface MatchSubject {
  title: string;
  error_message?: string | null;
  exception_class?: string | null;
  project: string;
  environment?: string | null;
}

/** Omits missing and repeated texts. */
export function listSubjectTexts({ title, error_message, exception_class }: MatchSubject): string[] {
  const message = error_message ?? '';
  const whole = [exception_class ?? '', message].filter((part) => part !== '').join(': ');
  return [...new Set([title, message, whole])].filter((text) => text !== '');
}

/** Returns the class as reported and its last segment, since a pattern may name either. */
export function listClassNames(name: string | null | undefined): string[] {
  if (name === null || name === undefined || name.trim() === '') return [];
  return [...new Set([name.trim(), getShortClassName(name)])];
}
