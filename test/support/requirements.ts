/**
 * Optional requirements of suites, which are skipped if missing. `SVC_TEST_REQUIRE`
 * (comma-separated) turns a missing one into a failure; `.ci/run` requires what it has installed.
 */
export type Requirement =
  | 'mongodb'
  | 'browser'
  | 'sdks'
  | 'promtool'
  | 'openapi'
  | 'schemathesis'
  | 'packed'
  | 'apache'
  | 'csharp'
  | 'agent'
  | 'tls'
  | 'dns'
  | 'icmp'
  | 'namespaces'
  | 'wine'
  | 'powershell'
  | 'bsdtar'
  | 'litestream';

export const isRequired = (name: Requirement): boolean =>
  (process.env['SVC_TEST_REQUIRE'] ?? '').split(',').includes(name);

/**
 * Returns whether the requirement is available.
 * @throws when it is required and missing
 */
export function isAvailable(name: Requirement, isHere: boolean): boolean {
  if (!isHere && isRequired(name)) throw new Error(`SVC_TEST_REQUIRE names ${name}, which is missing here`);
  return isHere;
}
