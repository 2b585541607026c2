/**
 * `aos release-key rotate` and `aos license-key rotate` (contract 40, files; contract 50, license
 * files). A configured key needs `--to`.
 */
import { invalid } from '../../kernel/errors.js';
import { readConfiguredFile, UntrustedFile } from '../../lib/files/trusted-file.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { RELEASE_SIGNING } from '../../ports/domain/releases.js';
import type { RotatedKey, OwnCommand, ComposedService } from './composition.js';
import { withService } from './service.js';

const ROTATE_OPTIONS = {
  to: {
    type: 'string',
    value: 'file',
    summary: 'File of the new private key. Required if the key is set in the configuration',
  },
} as const;

async function readText(path: string): Promise<string> {
  try {
    return (await readConfiguredFile(path)).replace(/\r?\n$/, '');
  } catch (error) {
    if (error instanceof UntrustedFile) throw invalid({ to: error.problem }, `${error.message}.`);
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw invalid({ to: `cannot be read: ${code}` }, `${path} cannot be read: ${code}.`);
  }
}

/** @throws ServiceError validation_failed for a missing or unusable key; conflict */
async function rotateKey(
  service: ComposedService,
  kind: 'release' | 'license',
  to: string | undefined,
): Promise<RotatedKey> {
  const { [kind]: key } = service.keys;
  if (key.configured && to === undefined) {
    const from = service.origin(key.setting);
    throw invalid(
      { to: 'is needed' },
      `${key.setting} is set by ${from}: create a new key, pass its file with --to, and afterwards set ${key.setting} to it.`,
    );
  }
  return key.rotate(to === undefined ? null : await readText(to));
}

function formatSettingLines(service: ComposedService, kind: 'release' | 'license', to: string | undefined): string[] {
  const { setting, configured } = service.keys[kind];
  if (!configured || to === undefined) return [];
  return [
    `Now set ${setting} (${service.origin(setting)}) to the key in ${to}: a process with the previous key does not start.`,
  ];
}

const recordAudit = (
  service: ComposedService,
  kind: 'release' | 'license',
  { key, predecessor }: RotatedKey,
): Promise<void> | undefined =>
  service.kernel.findService(AUDIT)?.record(`command line: aos ${kind}-key rotate`, `${kind}_key.rotated`, key.key_id, {
    predecessor: predecessor.key_id,
  });

export const releaseKeyRotateCommand: OwnCommand = {
  name: 'release-key rotate',
  summary: 'Sign releases with a new key, endorsed by the previous one',
  options: ROTATE_OPTIONS,
  run: ({ options }, composition) =>
    withService(composition, { threads: false }, async (service) => {
      const to = options['to'] as string | undefined;
      const rotated = await rotateKey(service, 'release', to);
      await recordAudit(service, 'release', rotated);
      const signed = (await service.kernel.findService(RELEASE_SIGNING)?.resign())?.releases ?? 0;
      const { key, predecessor } = rotated;
      const setting = formatSettingLines(service, 'release', to);
      return {
        json: {
          key_id: key.key_id,
          public_key: key.public_key,
          predecessor: predecessor.key_id,
          releases_signed: signed,
          setting: setting.length === 0 ? null : service.keys.release.setting,
        },
        text: [
          `Releases are now signed with ${key.key_id}, endorsed by ${predecessor.key_id}.`,
          `${signed} ${signed === 1 ? 'release was' : 'releases were'} re-signed. Running processes switch within 30 seconds.`,
          ...setting,
        ].join('\n'),
      };
    }),
};

export const licenseKeyRotateCommand: OwnCommand = {
  name: 'license-key rotate',
  summary: 'Sign license responses and files with a new key, endorsed by the previous one',
  options: ROTATE_OPTIONS,
  run: ({ options }, composition) =>
    withService(composition, { threads: false }, async (service) => {
      const to = options['to'] as string | undefined;
      const rotated = await rotateKey(service, 'license', to);
      await recordAudit(service, 'license', rotated);
      const { key, predecessor } = rotated;
      const setting = formatSettingLines(service, 'license', to);
      return {
        json: {
          kid: key.key_id,
          algorithm: key.algorithm,
          public_key: key.public_key,
          predecessor: predecessor.key_id,
          setting: setting.length === 0 ? null : service.keys.license.setting,
        },
        text: [
          `Licenses are now signed with ${key.key_id}, endorsed by ${predecessor.key_id}.`,
          'Running processes switch within 30 seconds. License files signed with the previous key stay valid for clients that follow the key chain.',
          ...setting,
        ].join('\n'),
      };
    }),
};
