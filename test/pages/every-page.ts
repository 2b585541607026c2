/**
 * Every page there is, from what the plugins mount: a new one cannot be forgotten by the suites
 * that walk them all.
 */
import type { PageSpec } from '../../kernel/contract/index.js';
import { BUILTIN } from '../../config/compose/compose.js';
import { bootTestKernel } from '../harness.js';
import { ADMIN_ACCOUNT } from '../support/service.js';

export interface KnownPage {
  method: 'GET' | 'POST';
  /** As it is mounted, `/bugs/{ref}`. */
  path: string;
  access: PageSpec['access'];
}

export async function everyPage(): Promise<KnownPage[]> {
  const access = { admin_user: ADMIN_ACCOUNT.username, admin_password: ADMIN_ACCOUNT.password };
  const made = await bootTestKernel(BUILTIN, { sections: { auth: access } });
  try {
    const pages = made.http.mounted?.pages ?? [];
    return pages.map(({ spec }) => ({ method: spec.method ?? 'GET', path: spec.path, access: spec.access }));
  } finally {
    await made.stop();
  }
}
