/** What the services of this plugin are built on, so that a test puts its own in their place. */
import {
  token,
  type Cipher,
  type Clock,
  type Collection,
  type Doc,
  type Ids,
  type Logger,
  type PasswordHasher,
} from '../../kernel/contract.js';
import type { AttemptThrottle } from '../../ports/domain/access.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { MailQueue } from '../../ports/domain/mail/mail-queue.js';
import type { ProjectDirectory, SellerBrands } from '../../ports/domain/projects.js';
import type { WatchdogApi } from '../../ports/domain/watchdog.js';
import type { AnnouncementDoc } from './model/announcement.js';
import type { StatusPageDoc } from './model/page.js';
import type { SubscriberDoc } from './model/subscriber.js';

/** The picture of the page with this id. */
export interface LogoDoc extends Doc {
  type: string;
  /** Base64. */
  data: string;
}

/** A type and not an interface, so that a list of plugins takes it for a plain record. */
export type StatusPagesConfig = { hosts: string[] };

export interface StatusPagesDeps {
  pages: Collection<StatusPageDoc>;
  announcements: Collection<AnnouncementDoc>;
  logos: Collection<LogoDoc>;
  subscribers: Collection<SubscriberDoc>;
  /** Undefined: no plugin sends mail. */
  mail: () => MailQueue | undefined;
  clock: Clock;
  ids: Ids;
  log: Logger;
  watchdog: Pick<WatchdogApi, 'conditions'>;
  projects: Pick<ProjectDirectory, 'get' | 'list'>;
  /** What the page of a project shows where it has no name, colour or logo of its own. */
  brands: Pick<SellerBrands, 'of' | 'logo'>;
  audit: Pick<AuditLog, 'record'>;
  hasher: PasswordHasher;
  cipher: Pick<Cipher, 'seal' | 'open' | 'derive'>;
  /** Of wrong passwords, and of subscriptions. */
  throttle: AttemptThrottle;
  /** `server.base_url` without a slash at its end; with a free port it is known only once the server listens. */
  baseUrl: () => string;
  /** `statuspages.hosts`: names that a page may take without an administrator. */
  hosts: readonly string[];
  /** `app.timezone`. */
  timezone: string;
}

export const DEPS = token<StatusPagesDeps>('statuspages.deps');
