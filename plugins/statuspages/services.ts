import { bindAll, type Clock, type Instances, type PluginContext } from '../../kernel/contract/index.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import { DEPS, type StatusPagesDeps } from './deps.js';
import { PageHostResolver } from './public-page/page-hosts.js';
import { PageLockService } from './public-page/page-lock.js';
import { PublicPageBuilder } from './public-page/public-page-builder.js';
import { AnnouncementService } from './store/announcement-service.js';
import { SubscriberService } from './subscriptions/subscriber-service.js';
import { SubscriberNotifier } from './subscriptions/subscriber-notifier.js';
import { StatusPageService } from './store/status-page-service.js';

const SERVICE_CLASSES = {
  pages: StatusPageService,
  announcements: AnnouncementService,
  shown: PublicPageBuilder,
  hosts: PageHostResolver,
  lock: PageLockService,
  subscribers: SubscriberService,
  news: SubscriberNotifier,
};

export type StatusPageServices = Instances<typeof SERVICE_CLASSES> & {
  clock: Clock;
  projects: Pick<ProjectDirectory, 'list'>;
  timezone: string;
  /** @throws ServiceError rate_limited after too many attempts of this key */
  countAttempt: (key: string) => Promise<void>;
};

export function buildServices(
  scope: Pick<PluginContext, 'bind' | 'services'>,
  deps: StatusPagesDeps,
): StatusPageServices {
  bindAll(scope, DEPS, deps);
  const { clock, projects, timezone, throttle } = deps;
  const countAttempt = async (key: string): Promise<void> => {
    const attempt = await throttle.begin([key]);
    try {
      await attempt.recordFailure();
    } finally {
      attempt.release();
    }
  };
  return { ...scope.services(SERVICE_CLASSES), clock, projects, timezone, countAttempt };
}
