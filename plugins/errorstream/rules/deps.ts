import { token, type Clock, type Collection, type Ids, type Logger } from '../../../kernel/contract/index.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { BugsApi, GroupMuter } from '../../../ports/domain/bugs.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { ApplyRunDoc, RevisionDoc } from './documents.js';
import type { IgnoreRule } from './rule.js';

export interface RuleDeps {
  rules: Collection<IgnoreRule>;
  revisions: Collection<RevisionDoc>;
  applies: Collection<ApplyRunDoc>;
  bugs: Pick<BugsApi, 'unmuteByRule'>;
  muting: GroupMuter;
  projects: Pick<ProjectDirectory, 'get' | 'list'>;
  audit: () => AuditLog | undefined;
  clock: Clock;
  ids: Ids;
  log: Logger;
}

export const RULE_DEPS = token<RuleDeps>('errorstream.rules.deps');
