// The page that is served where the dashboard was not built.

export const BUILD_FIRST = 'Run `npm run build`, or set GATEWAY_DASHBOARD_DIR to a folder with a built dashboard.'

export function missingPage(): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>hookgate</title>
<h1>The dashboard is not built</h1>
<p>The gateway runs and serves its API. To build the dashboard, run <code>npm run build</code> and reload this page.
<p>A dashboard in another folder: set <code>GATEWAY_DASHBOARD_DIR</code>.
</html>
`
}
