import { bindAll, type Instances, type PluginContext } from '../../kernel/contract/index.js';
import { UpdateCheckService } from './update-check/update-check-service.js';
import { ManifestRepository } from './update-check/manifest-repository.js';
import { ReleaseIndex } from './update-check/release-index.js';
import { DEPS, type ReleaseDeps } from './deps.js';
import { ReleaseDirectoryAdapter } from './directory.js';
import { ReleaseListService } from './lists.js';
import { ReleaseChangeService } from './publishing/release-change-service.js';
import { ChannelDocumentWriter } from './publishing/channel-documents.js';
import { CrashRateEvaluator } from './publishing/crash-check.js';
import { RollbackService } from './publishing/rollback-service.js';
import { RolloutHalter } from './publishing/rollout-halter.js';
import { LatestFileRepairer } from './publishing/latest-file-repairer.js';
import { ReleasePublisher } from './publishing/publisher.js';
import { ReleaseFilesUpdater } from './publishing/release-files-updater.js';
import { ReleaseReconciler } from './publishing/reconciler.js';
import { ReleaseRepository } from './publishing/release-repository.js';
import { ReleaseResigner } from './publishing/release-resigner.js';
import { PublishUploadHandler } from './publishing/publish-upload-handler.js';
import { ReleaseTimestamps } from './release-timestamps.js';

const SERVICES = {
  updateChecks: UpdateCheckService,
  index: ReleaseIndex,
  lists: ReleaseListService,
  directory: ReleaseDirectoryAdapter,
  docs: ReleaseRepository,
  manifests: ManifestRepository,
  channels: ChannelDocumentWriter,
  publisher: ReleasePublisher,
  uploads: PublishUploadHandler,
  changes: ReleaseChangeService,
  rollbacks: RollbackService,
  crashes: CrashRateEvaluator,
  halting: RolloutHalter,
  reconciler: ReleaseReconciler,
  files: ReleaseFilesUpdater,
  resigning: ReleaseResigner,
  latest: LatestFileRepairer,
  stamps: ReleaseTimestamps,
};

export type ReleaseServices = Instances<typeof SERVICES> & { deps: ReleaseDeps };

export function buildServices(scope: Pick<PluginContext, 'bind' | 'services'>, deps: ReleaseDeps): ReleaseServices {
  bindAll(scope, DEPS, deps);
  return { ...scope.services(SERVICES), deps };
}
