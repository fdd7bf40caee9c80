// Prints which variables it gets. The script "report" needs a token, "lint" does not.
//
//   rt run report                                        the token is in .env, as plain text
//   rt secrets check                                     reports the token
//   rt secrets import .env --script report               moves it to the credential store
//   rt run report                                        asks once whether this project may read it
//   rt run lint                                          gets nothing
const { REPORT_TOKEN, REPORT_URL } = process.env;

console.log(`${REPORT_URL}: ${REPORT_TOKEN ? `a token of ${REPORT_TOKEN.length} characters` : "no token"}`);
