import access from '../../plugins/access/plugin.js';
import apply from '../../plugins/apply/plugin.js';
import backups from '../../plugins/backups/plugin.js';
import bugs from '../../plugins/bugs/plugin.js';
import dashboard from '../../plugins/dashboard/plugin.js';
import dispatch from '../../plugins/dispatch/plugin.js';
import errorstream from '../../plugins/errorstream/plugin.js';
import forges from '../../plugins/forges/plugin.js';
import health from '../../plugins/health/plugin.js';
import licensing from '../../plugins/licensing/plugin.js';
import live from '../../plugins/live/plugin.js';
import machines from '../../plugins/machines/plugin.js';
import manual from '../../plugins/manual/plugin.js';
import mcp from '../../plugins/mcp/plugin.js';
import notifications from '../../plugins/notifications/plugin.js';
import probes from '../../plugins/probes/plugin.js';
import otlp from '../../plugins/otlp/plugin.js';
import projects from '../../plugins/projects/plugin.js';
import releasehealth from '../../plugins/releasehealth/plugin.js';
import releases from '../../plugins/releases/plugin.js';
import search from '../../plugins/search/plugin.js';
import sentry from '../../plugins/sentry/plugin.js';
import sourcemaps from '../../plugins/sourcemaps/plugin.js';
import statuspages from '../../plugins/statuspages/plugin.js';
import watchdog from '../../plugins/watchdog/plugin.js';
import setup from '../../plugins/setup/plugin.js';
import webhooks from '../../plugins/webhooks/plugin.js';

export const BUILTIN = [
  access,
  apply,
  backups,
  projects,
  health,
  dashboard,
  bugs,
  dispatch,
  errorstream,
  forges,
  search,
  sentry,
  sourcemaps,
  otlp,
  webhooks,
  machines,
  watchdog,
  probes,
  statuspages,
  releases,
  releasehealth,
  notifications,
  setup,
  licensing,
  live,
  manual,
  mcp,
];
