import {
  token,
  type Cipher,
  type Clock,
  type Collection,
  type Doc,
  type Ids,
  type Logger,
  type PasswordHasher,
} from '../../kernel/contract/index.js';
import type { AttemptThrottle } from '../../ports/domain/access.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { MailQueue } from '../../ports/domain/mail/mail-queue.js';
import type { ProjectDirectory, SellerBrands } from '../../ports/domain/projects.js';
import type { WatchdogApi } from '../../ports/domain/watchdog.js';
import type { AnnouncementDoc } from './model/announcement.js';
import type { StatusPageDoc } from './model/status-page.js';
import type { SubscriberDoc } from './model/subscriber.js';

export interface LogoDoc extends Doc {
  type: string;
  data: string;
}

/** A type is assignable to a plain record. */
export type StatusPagesConfig = { hosts: string[] };

export interface StatusPagesDeps {
  pages: Collection<StatusPageDoc>;
  announcements: Collection<AnnouncementDoc>;
  logos: Collection<LogoDoc>;
  subscribers: Collection<SubscriberDoc>;
  mail: () => MailQueue | undefined;
  clock: Clock;
  ids: Ids;
  log: Logger;
  watchdog: Pick<WatchdogApi, 'listConditions'>;
  projects: Pick<ProjectDirectory, 'get' | 'list'>;
  brands: Pick<SellerBrands, 'find' | 'readLogo'>;
  audit: Pick<AuditLog, 'record'>;
  hasher: PasswordHasher;
  cipher: Pick<Cipher, 'seal' | 'open' | 'derive'>;
  throttle: AttemptThrottle;
  /** With port 0, known only after the server listens. */
  baseUrl: () => string;
  hosts: readonly string[];
  timezone: string;
}

export const DEPS = token<StatusPagesDeps>('statuspages.deps');
