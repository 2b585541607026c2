import {
  token,
  type TokenValues,
  type Clock,
  type Collection,
  type Ids,
  type Logger,
} from '../../../kernel/contract/index.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { BugsApi, GroupMuter } from '../../../ports/domain/bugs.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { ApplyRunDoc, RevisionDoc } from './documents.js';
import type { IgnoreRule } from './rule.js';

export const RULE_DEPS = {
  rules: token<Collection<IgnoreRule>>('errorstream.rules:rules'),
  revisions: token<Collection<RevisionDoc>>('errorstream.rules:revisions'),
  applies: token<Collection<ApplyRunDoc>>('errorstream.rules:applies'),
  bugs: token<Pick<BugsApi, 'unmuteByRule'>>('errorstream.rules:bugs'),
  muting: token<GroupMuter>('errorstream.rules:muting'),
  projects: token<Pick<ProjectDirectory, 'get' | 'list'>>('errorstream.rules:projects'),
  audit: token<() => AuditLog | undefined>('errorstream.rules:audit'),
  clock: token<Clock>('errorstream.rules:clock'),
  ids: token<Ids>('errorstream.rules:ids'),
  log: token<Logger>('errorstream.rules:log'),
};

export type RuleDeps = TokenValues<typeof RULE_DEPS>;
