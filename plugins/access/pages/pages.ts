import type { PageSpec } from '../../../kernel/contract/index.js';
import type { AccessServices } from '../services.js';
import { buildAccountPages } from './account.js';
import { buildLoginPages } from './login.js';
import { buildResumePages } from './resume.js';
import { buildAccessTokenPages } from './tokens.js';
import { buildUserPages } from './users.js';

export function buildAccessPages(services: AccessServices): PageSpec[] {
  return [
    ...buildLoginPages(services),
    ...buildResumePages(services),
    ...buildAccountPages(services),
    ...buildUserPages(services),
    ...buildAccessTokenPages(services),
  ];
}
