/** Every page of this plugin. */
import type { PageSpec } from '../../../kernel/contract.js';
import type { AccessServices } from '../assemble.js';
import { accountPages } from './account.js';
import { loginPages } from './login.js';
import { resumePages } from './resume.js';
import { tokenPages } from './tokens.js';
import { userPages } from './users.js';

export function pages(services: AccessServices): PageSpec[] {
  return [
    ...loginPages(services),
    ...resumePages(services),
    ...accountPages(services),
    ...userPages(services),
    ...tokenPages(services),
  ];
}
