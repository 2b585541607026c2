/**
 * What suites need and not every machine has: without it they skip. `SVC_TEST_REQUIRE`, comma-separated, makes the absence
 * of one a failure; `.ci/run` requires what it has installed.
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
  | 'bsdtar';

export const isRequired = (name: Requirement): boolean =>
  (process.env['SVC_TEST_REQUIRE'] ?? '').split(',').includes(name);

/** Returns whether it is here. @throws when it is required and missing */
export function isAvailable(name: Requirement, isHere: boolean): boolean {
  if (!isHere && isRequired(name)) throw new Error(`SVC_TEST_REQUIRE names ${name}, which is missing here`);
  return isHere;
}
