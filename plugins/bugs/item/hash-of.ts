/** Ids of documents that are unique per project. */
import { hash } from 'node:crypto';

/** A hash and no concatenation: two projects could share one. */
export const hashOf = (project: string, text: string): string => hash('sha256', `${project}\u001f${text}`).slice(0, 40);
