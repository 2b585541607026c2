import { invalid } from '../../../kernel/errors.js';

/** What a browser submits after a passkey prompt. */
export interface SubmittedPasskey {
  /** The browser's answer, JSON. */
  credential: string;
  /** Sealed challenge from its cookie. */
  state: string | undefined;
}

const MAX_CREDENTIAL_LENGTH = 16 * 1024;

/** @throws ServiceError validation_failed for anything but a bounded object with an id */
export function parseCredential(
  text: string,
): { id: string; response: Record<string, unknown> } & Record<string, unknown> {
  const parsed = text.length > MAX_CREDENTIAL_LENGTH ? null : parseObject(text);
  const { id, response } = parsed ?? {};
  if (parsed === null || typeof id !== 'string' || !isObject(response))
    throw invalid({ credential: 'is not the answer of a passkey' });
  return { ...parsed, id, response };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
