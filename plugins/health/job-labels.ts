import { capitalize } from '../../lib/sentence.js';

/** What the built-in jobs do, by name. */
const JOB_LABELS: Readonly<Record<string, string>> = {
  'access.roster': 'Check administrators',
  'access.sweep': 'Remove expired sessions and tokens',
  'backups.make': 'Create backup when due',
  'bugs.forget': 'Remove old events',
  'bugs.outbox': 'Send pending events',
  'bugs.reconcile': 'Complete interrupted changes',
  'bugs.sweep': 'End expired leases',
  'dispatch.forget': 'Remove old requests',
  'errorstream.late_frames': 'Resolve late source maps',
  'errorstream.rules': 'Apply ignore rules',
  'forges.forget': 'Remove old deliveries',
  'health.examine_store': 'Check store for damage',
  'licensing.expire': 'Expire licenses',
  'licensing.hash': 'Complete license keys',
  'licensing.reconcile': 'Send pending events',
  'licensing.release': 'Deactivate unseen machines',
  'machines.clean': 'Remove old machines',
  'machines.days': 'Record versions of machines',
  'notifications.forget': 'Remove old messages',
  'notifications.send': 'Send messages',
  'projects.deletions': 'Complete project deletions',
  'releasehealth.clean': 'Remove old sessions',
  'releases.access': 'Protect downloads',
  'releases.compare': 'Compare releases with their files',
  'releases.halt': 'Check rollouts',
  'releases.latest': 'Repair newest releases',
  'releases.reconcile': 'Complete interrupted publishes',
  'releases.state': 'Sign freshness statements',
  'sourcemaps.clean': 'Remove old source maps',
  'statuspages.expire': 'Remove unconfirmed subscribers',
  'statuspages.news': 'Send updates to subscribers',
  'watchdog.evaluate': 'Check monitors',
  'watchdog.reconcile': 'Send pending alerts',
  'webhooks.forget': 'Remove old deliveries',
  'webhooks.reconcile': 'Send pending deliveries',
};

/** Falls back to the words of the name for jobs of other plugins. */
export const formatJobLabel = (name: string): string =>
  JOB_LABELS[name] ?? capitalize(name.slice(name.indexOf('.') + 1).replaceAll(/[._-]/g, ' '));
