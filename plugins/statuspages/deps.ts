import {
  token,
  type TokenValues,
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

export const DEPS = {
  pages: token<Collection<StatusPageDoc>>('statuspages:pages'),
  announcements: token<Collection<AnnouncementDoc>>('statuspages:announcements'),
  logos: token<Collection<LogoDoc>>('statuspages:logos'),
  subscribers: token<Collection<SubscriberDoc>>('statuspages:subscribers'),
  mail: token<() => MailQueue | undefined>('statuspages:mail'),
  clock: token<Clock>('statuspages:clock'),
  ids: token<Ids>('statuspages:ids'),
  log: token<Logger>('statuspages:log'),
  watchdog: token<Pick<WatchdogApi, 'listConditions'>>('statuspages:watchdog'),
  projects: token<Pick<ProjectDirectory, 'get' | 'list'>>('statuspages:projects'),
  brands: token<Pick<SellerBrands, 'find' | 'readLogo'>>('statuspages:brands'),
  audit: token<Pick<AuditLog, 'record'>>('statuspages:audit'),
  hasher: token<PasswordHasher>('statuspages:hasher'),
  cipher: token<Pick<Cipher, 'seal' | 'open' | 'derive'>>('statuspages:cipher'),
  throttle: token<AttemptThrottle>('statuspages:throttle'),
  /** With port 0, known only after the server listens. */
  baseUrl: token<() => string>('statuspages:baseUrl'),
  hosts: token<readonly string[]>('statuspages:hosts'),
  timezone: token<string>('statuspages:timezone'),
};

export type StatusPagesDeps = TokenValues<typeof DEPS>;
