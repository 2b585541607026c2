/**
 * The message for the next page: what is signed comes back, with its way back; what is not is
 * nothing.
 */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { createFlashCookie, parseFlash } from '../../../../adapters/hapi/wire/flash.js';
import type { Authenticator, Flash } from '../../../../ports/http/index.js';

const authenticator = {
  getCsrfToken: (text: string) => createHash('sha256').update(`key ${text}`).digest('base64url'),
} as Authenticator;

describe('hapi: flash messages', () => {
  const round = (flash: Flash): Flash | null =>
    parseFlash(authenticator, createFlashCookie(authenticator, flash).value ?? '');

  it('returns the flash message as written, with and without an action', () => {
    const plain: Flash = { tone: 'success', message: 'Saved.' };
    expect(round(plain)).to.deep.equal(plain);
    const undo: Flash = { ...plain, action: { label: 'Undo', post: '/bugs/bulk/runs/1/undo' } };
    expect(round(undo)).to.deep.equal(undo);
  });

  it('ignores a flash message whose action was tampered with', () => {
    const { value } = createFlashCookie(authenticator, {
      tone: 'info',
      message: 'x',
      action: { label: 'Undo', post: '/a' },
    });
    const [, mark = ''] = (value ?? '').split('.');
    const body = Buffer.from(JSON.stringify(['info', 'x', { label: 'Undo', post: '/users/1/delete' }]));
    expect(parseFlash(authenticator, `${body.toString('base64url')}.${mark}`)).to.equal(null);
  });
});
