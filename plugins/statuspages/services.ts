import type { Clock, Instances, PluginContext } from '../../kernel/contract.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import { DEPS, type StatusPagesDeps } from './deps.js';
import { PageHosts } from './public-page/page-hosts.js';
import { PageLock } from './public-page/page-lock.js';
import { PublicPageBuilder } from './public-page/public-page-builder.js';
import { Announcements } from './store/announcements.js';
import { Subscribers } from './subscriptions/subscribers.js';
import { SubscriberNews } from './subscriptions/news.js';
import { StatusPages } from './store/pages.js';

const SERVICES = {
  pages: StatusPages,
  announcements: Announcements,
  shown: PublicPageBuilder,
  hosts: PageHosts,
  lock: PageLock,
  subscribers: Subscribers,
  news: SubscriberNews,
};

export type StatusPageServices = Instances<typeof SERVICES> & {
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
  scope.bind(DEPS, deps);
  const { clock, projects, timezone, throttle } = deps;
  const countAttempt = async (key: string): Promise<void> => {
    const attempt = await throttle.enter([key]);
    try {
      await attempt.failed();
    } finally {
      attempt.leave();
    }
  };
  return { ...scope.services(SERVICES), clock, projects, timezone, countAttempt };
}
