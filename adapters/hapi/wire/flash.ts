/**
 * A message for the next page, in a short-lived cookie, signed so that a neighboring host cannot
 * choose the text. The input starts with `flash.`, so a signature is never a CSRF token, nor the
 * reverse.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Authenticator, Cookie, Flash } from '../../../ports/http/index.js';

export const FLASH_COOKIE = 'svc_flash';
const FLASH_TONES = new Set(['success', 'warning', 'danger', 'info']);

export function createFlashCookie(authenticator: Authenticator, flash: Flash): Cookie {
  const { tone, message, action } = flash;
  const payload = [tone, message.slice(0, 1_000), ...(action === undefined ? [] : [action])];
  const body = Buffer.from(JSON.stringify(payload)).toString('base64url');
  return { name: FLASH_COOKIE, value: `${body}.${authenticator.getCsrfToken(`flash.${body}`)}`, maxAgeSeconds: 60 };
}

export function parseFlash(authenticator: Authenticator, value: string | undefined): Flash | null {
  if (!value) return null;
  const [body = '', mark = ''] = value.split('.', 2);
  const given = Buffer.from(mark);
  const right = Buffer.from(authenticator.getCsrfToken(`flash.${body}`));
  if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
  const payload = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as
    [Flash['tone'], string] | [Flash['tone'], string, NonNullable<Flash['action']>];
  const [tone, message, action] = payload;
  return FLASH_TONES.has(tone) ? { tone, message, ...(action !== undefined && { action }) } : null;
}
