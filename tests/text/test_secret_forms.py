"""Secrets in forms of code, plans, records, commands and sentences, and their harmless twins, which stay."""

from __future__ import annotations

import base64
import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix.text.secrets.redact import redact

WORDS = ("harbour", "lantern", "kastanie", "willow", "saddle", "velvet")


def made_of(seed: int) -> str:
    """Return a password as a manager of passwords makes it."""
    return "Kq" + "".join(random.Random(seed).choices(string.ascii_letters + string.digits, k=10)) + "7z"


MACHINE_MADE = st.integers(0, 100_000).map(made_of)
BY_PEOPLE = st.builds(
    "{}{}{}{}".format, st.sampled_from(WORDS), st.integers(2, 99), st.sampled_from("!#%+"), MACHINE_MADE
)
MIXED = st.one_of(MACHINE_MADE, BY_PEOPLE)
ANY_WORDS = st.one_of(MIXED, st.builds("{}{}".format, st.sampled_from(WORDS), st.sampled_from(WORDS)))

STATED = (
    "db = {{ password: process.env.DB_PASSWORD || '{}' }}",
    'password: process.env.DB_PASSWORD ?? "{}",',
    "process.env.DB_PASSWORD ||= '{}'",
    "password: ENV.fetch('DB_PASSWORD') {{ '{}' }}",
    "password = ENV['DB_PASSWORD'] || '{}'",
    'password = os.environ.get("DB_PASSWORD") or "{}"',
    "login(settings.DB_PASSWORD or '{}')",
    'val word = System.getenv("DB_PASSWORD") ?: "{}"',
    "$word = getenv('DB_PASSWORD') ?: '{}';",
    '  ~ password = "{0}" -> "{0}"',
    "locals {{\n  password = <<EOT\n{}\nEOT\n}}",
    "  password = <<-EOT\n    {}\n  EOT\n",
    '["password"]=>\n  string(14) "{}"',
    '{{"ParameterKey":"DbPassword","ParameterValue":"{}"}}',
    '"adminPassword": {{ "type": "securestring", "defaultValue": "{}" }}',
    '"adminPassword":{{"type":"securestring","defaultValue":"{}"}}',
    "password: !!str {}\n",
    "password: &shop {}\n",
    "INSERT INTO users (name, password) VALUES ('mira', '{}');",
    "insert into `users` (`id`, `password`, `at`) values\n (1, '{0}', NULL),\n (2, '{0}', now());",
    "INSERT INTO users (name, password) VALUES ('a, (b)', crypt('{}', gen_salt('bf')))",
    '{{"value":"{}","name":"DB_PASSWORD"}}',
    '{{\n  "value": "{}",\n  "name": "DB_PASSWORD"\n}}',
    "env:\n- value: {}\n  name: DB_PASSWORD\n",
    "UPDATE users SET password=MD5('{}') WHERE id=1;",
    "update users set password = SHA2('{}', 256)",
    "UPDATE users SET password = crypt('{}', gen_salt('bf'))",
    "user.password = bcrypt.hashSync('{}', 10)",
    "password = generate_password_hash('{}')",
    "'password' => Hash::make('{}'),",
    '{{"key":"db_password","val":"{}"}}',
    'const DB_PASSWORD: &str = "{}";',
    'static DB_PASSWORD: &\'static str = "{}";',
    'val password by lazy {{ "{}" }}',
    'val password: String by lazy {{ "{}" }}',
    "define('DB_PASSWORD',         '{}');",
    '<meta-data android:name="shop.DB_PASSWORD" android:value="{}" />',
    'var dbPassword = []byte("{}")',
    "ldap_default_authtok = {}",
    "<key>Password</key>\n  <string>{}</string>",
    'poll shop.test proto imap user "mira" password "{}"',
    "auth: {{ user: 'mira@shop.test', pass: '{}' }}",
)
TOLD = (
    "token = jwt.sign(payload, '{}')",
    "jwt.sign({{ id: user.id }}, '{}', {{ expiresIn: '1h' }})",
    "jwt.verify(token, '{}')",
    'jwt.encode({{"sub": "mira"}}, "{}", algorithm="HS256")',
    'jwt.encode(\n    payload(),\n    "{}",\n)',
    'token.SignedString([]byte("{}"))',
    'sig = hmac.new(b"{}", msg, sha256)',
    "hmac.new('{}'.encode(), msg)",
    'hmac.New(sha256.New, []byte("{}"))',
    "crypto.createHmac('sha256', '{}').update(x)",
    "hash_hmac('sha256', $data, '{}')",
    "OpenSSL::HMAC.hexdigest('SHA256', '{}', data)",
    "User.objects.create_user('mira', 'mira@shop.test', '{}')",
    'User.objects.create_superuser("mira", None, "{}")',
    "cy.get('#password').type('{}')",
    "cy.get('input[name=\"password\"]').clear().type('{}')",
    "await page.type('input[name=password]', '{}')",
    "await page.getByLabel('Password').fill('{}');",
    "page.getByLabel('Password', {{ exact: true }}).fill('{}')",
    "page.getByRole('textbox', {{ name: 'Password' }}).fill('{}')",
    "fill_in 'Password', with: '{}'",
    "fireEvent.change(getByLabelText('Password'), {{target: {{value: '{}'}}}})",
    "fireEvent.change(getByLabelText(/password/i), {{ target: {{ value: '{}' }} }})",
    "await user.type(screen.getByLabelText(/password/i), '{}')",
    "element(by.id('password')).sendKeys('{}')",
    'And I fill in "Password" with "{}"',
    "$('#password').val('{}')",
    "INSERT INTO settings (name, value) VALUES ('smtp_password', '{}')",
    "password -> {}",
    "password \u2192 {}",
    "password =\n    {}\n",
    "password:\n    {}\n",
    "+ password:\n+   {}\n",
    "az keyvault secret set --vault-name shop --name db --value {}",
    'gh secret set SHOP --body "{}"',
    'gh secret set SHOP <<< "{}"',
    "printf '%s' '{}' | gh secret set DB_PASSWORD",
    'echo -n "{}" | gcloud secrets create shop --data-file=-',
    'echo -n "{}" | gcloud secrets versions add shop --data-file=-',
    "printf '{}' | \\\n  gcloud secrets create shop --data-file=-",
    "echo {} | npx wrangler secret put SHOP",
    "fly secrets set SHOP={0} DB={0}",
    'printf "{}" | docker secret create shop -',
    "kubectl create secret generic shop --from-literal=dsn={0} --from-literal=user=mira",
    "echo '::add-mask::{}'",
    "CREATE USER 'mira'@'%' IDENTIFIED WITH mysql_native_password BY '{}';",
    "vault login {}",
    "vault login -no-print {}",
    "vault kv put shop/db user=mira value={}",
    "vault operator unseal {}",
    "echo {} | vault kv put shop/db word=-",
    "security unlock-keychain -p {} login.keychain",
    "security add-generic-password -a mira -s shop -w {}",
    "useradd -m -p {} mira",
    'echo -e "{}" | sudo passwd mira',
    'printf "{}" | cryptsetup luksFormat disk',
    "cryptsetup luksOpen /dev/sda1 disk <<< '{}'",
    'sudo -S <<< "{}" ls',
    "su -c ls <<< {}",
    "bw login mira@shop.test {}",
    "bw unlock {}",
    "neo4j-admin dbms set-initial-password {}",
    "grafana-cli admin reset-admin-password {}",
    "htpasswd -nbB mira {}",
    "htpasswd -b shop.htpasswd mira {}",
    "ansible-vault encrypt_string '{}' --name shop",
    "ansible-vault encrypt_string --vault-id dev@file.txt '{}' --name shop",
    "username mira privilege 15 secret 0 {}",
    "username mira secret {}",
    "tacacs-server host 10.0.0.8 key {}",
    "crypto isakmp key {} address 10.0.0.8",
    "I changed the password of the database from {0} to {0}.",
    "Login with mira:{} on staging",
    "log in as mira / {}",
    "staging: user: mira / pass: {}",
    "user mira, pass: {}",
    "Password for 'mira': {}",
    "password? {}",
    "Password [default]: {}",
    "[Server] A temporary password is generated for root@localhost: {}",
    "Please use the following password to proceed to installation:\n\n{}\n\nThis may also be found at: /var/shop",
    "Password for the elastic user (reset with ...): {}",
    'buildConfigField("String", "DB_PASSWORD", "\\"{}\\"")',
    "Driver={{ODBC Driver 17}};Server=db01;UID=mira;Password={{{}}};",
    "new mysqli('localhost', 'mira', '{}', 'shop')",
    "new Sequelize('shop', 'mira', '{}', {{ dialect: 'mysql' }})",
    'FTP("files.shop.test", "mira", "{}")',
    'new PasswordAuthentication("mira", "{}".toCharArray())',
    'smtp.PlainAuth("", "mira@shop.test", "{}", "shop.test")',
    '.basic_auth("mira", Some("{}"))',
    'request.basic_auth("mira", "{}")',
    'WiFi.begin("home", "{}");',
    "conn.simple_bind_s(dn, '{}')",
    "kind: Secret\nmetadata:\n  name: shop\nstringData:\n  dsn: {}\n  user: mira\n",
    "the password **{}**",
    "credentials mira / {}",
    "use mira:{} to log in",
    "ngrok config add-authtoken {}",
    "cargo login {}",
    "npm config set //npm.shop.test/:_authToken {}",
    "poetry config pypi-token.pypi {}",
    "vercel env add NAME {}",
    "mc alias set m http://shop.test:9000 mira {}",
    "wpa_passphrase home {}",
    'wpa_passphrase "my home" {}',
    "WIFI:T:WPA;S:home;P:{};;",
    "PRAGMA key = '{}';",
    "nuget push shop.nupkg -k {}",
    "dotnet nuget push shop.nupkg --source a --api-key {}",
    "gpg --batch --passphrase {} -d a.gpg",
    "doctl auth init -t {}",
    "vault token lookup {}",
    'createUser mira SHA "{0}" AES "{0}"',
    "user default on >{} ~* +@all",
    "ACL SETUSER mira reset on >{} allkeys",
    'expect "assword:"\nsend "{}\\r"',
    "child.expect('assword:')\nchild.sendline('{}')",
    "echo {} | runas /user:mira cmd",
    "bundle config set --global gems.shop.test mira:{}",
    "CREATE USER mira IDENTIFIED BY {} DEFAULT TABLESPACE users;",
    'store.load(in, "{}".toCharArray());',
    'mysql_real_connect(c, "db01", "mira", "{}", "shop", 0, NULL, 0);',
    "host shop.test\nuser mira\npassword {}\n",
    "[shop.test]:587 mira@shop.test:{}",
    'mira : EAP "{}"',
    "restic -r nas:/b --password-command 'echo {}' backup",
    "rclone config create nas webdav user mira pass {}",
    "security import a.p12 -k b.keychain -P {} -A",
    "signtool sign /f a.pfx /p {} a.exe",
    "schtasks /create /tn a /ru mira /rp {}",
    "d-i passwd/root-password password {}",
    "set security ike policy a pre-shared-key ascii-text {}",
    " ikev1 pre-shared-key {}",
    "neighbor 10.0.0.9 password 0 {}",
    "standby 1 authentication md5 key-string {}",
    "ppp chap password 0 {}",
    "Password for the elastic user (reset with `bin/elasticsearch-reset-password -u elastic`):\n  {}\n",
)


@pytest.mark.parametrize("form", STATED)
@given(value=ANY_WORDS)
def test_what_code_and_records_give_to_a_password_goes_whatever_its_words(form: str, value: str) -> None:
    assert_taken_out(form, value)


@pytest.mark.parametrize("form", TOLD)
@given(value=MIXED)
def test_what_commands_and_sentences_give_goes_where_it_looks_like_a_secret(form: str, value: str) -> None:
    assert_taken_out(form, value)


def assert_taken_out(form: str, value: str) -> None:
    """Check that a value is taken out of each of its places, and nothing else is."""
    found = redact(form.format(value))
    assert found.kinds
    assert found.text == form.format(f"[REDACTED:{found.kinds[0]}]")


@pytest.mark.parametrize(
    "lead", ['{"auths":{', '{ "auths": {', '{\n\t"auths": {', '{\n  "auths": {', '{\n    "auths": {']
)
@given(value=MACHINE_MADE)
def test_the_logins_of_docker_go_in_base64(lead: str, value: str) -> None:
    logins = base64.b64encode(f'{lead}"shop.test":{{"auth":"{value}"}}}}}}'.encode()).decode()
    assert logins not in redact(f"  .dockerconfigjson: {logins}").text


@given(digits=st.integers(0, 2**64 - 1))
def test_the_token_that_a_node_joins_with_goes(digits: int) -> None:
    token = f"{digits % 2**24:06x}.{digits:016x}"
    assert token not in redact(f"kubeadm join 10.0.0.8:6443 --token {token}").text


@pytest.mark.parametrize(
    "text",
    [
        *("password: process.env.DB_PASSWORD || ''", "password: process.env.DB_PASSWORD || config.password"),
        *("password = os.environ.get('DB_PASSWORD') or '<password>'", "password: env.PASSWORD ?? '${PASSWORD}'"),
        *("kind = showPassword || 'text'", "credentials?: 'omit' | 'same-origin'", "a password or 'token' is needed"),
        *("label = user.token ?? 'N/A'", "error(password || 'Enter a password')", "'Private-Token) or 'oauth'"),
        *("ENV.fetch('DB_PASSWORD') { raise 'set it' }", "function login(password) { 'use strict'; }"),
        *("~ password = (sensitive value)", '~ name = "harbour1" -> "harbour2"', '~ password = "${a.b}" -> "${a.c}"'),
        *("password -> hash", "password \u2192 bcrypt", "reset password \u2192 new password", "password -> String"),
        *("password = 1 << shift\n", "cout << password << endl;\n", '["password"]=>\n  string(0) ""'),
        *("password: !Ref DbPassword", "password: !!str ${PASSWORD}", "password: &shop", "password: *shop"),
        *(
            "fn change(password: &mut SafePassword) {",
            'password = <<"guest">>,\n port = 1',
            "hash: bcrypt(password+salt)",
        ),
        *("password =\n    get_password()", "password:\n    type: string", "+ password:\n+   type: string"),
        '"adminPassword": { "type": "securestring" }, "size": { "defaultValue": "Standard_A1_v2" }',
        '"adminPassword":{"type":"securestring"},"size":{"defaultValue":"Standard_A1_v2"}',
        '{"ParameterKey":"DbPassword","UsePreviousValue":true}',
        *(
            f"INSERT INTO users (name, password) VALUES {row}"
            for row in ("(?, ?)", "(%s, %s)", "(:name, :password)", "($1, $2)", "('%s', '%s')", "('$name', '$word')")
        ),
        "INSERT INTO users (name, password) VALUES ('\" + name + \"', '\" + password + \"')",
        "INSERT INTO fields (name, kind) VALUES ('password', 'text')",
        "INSERT INTO shops (key, value) VALUES ('a1b2c3', 'harbour')",
        "put it into the form (password) values of yours",
        *('{"value":"harbour77","name":"DB_HOST"}', '{"value":"${SHOP}","name":"DB_PASSWORD"}'),
        "- name: DB_HOST\n  value: harbour77\n- name: DB_PASSWORD\n  valueFrom: shop",
        *('<input type="submit" value="Reset" name="reset_password">', '<input value="{{ a }}" name="password">'),
        *('az keyvault secret set --name db --value "$SHOP"', "az keyvault secret set --name db --file ./a1b2c3.txt"),
        *(
            "printf '%s' \"$SHOP\" | gh secret set SHOP",
            "fly secrets set DB=$DB",
            "fly secrets set HUB=https://xkcdqrtz.shop.test",
            "echo harbour77 | sort",
        ),
        "kubectl create secret generic shop --from-file=./mira1.txt --namespace=prod-eu1",
        *("the secret set by operator1 is used", "::add-mask::${{ steps.shop.outputs.token }}"),
        *("changed the password from the old to the new", "moved the password from bcrypt to argon2id"),
        *("login with google/github", "log in with https://shop.test:8443/auth", "log in as root@host:/srv/data2"),
        *(
            "user: mira / pass: yes",
            "user mira may pass: sha256",
            "the user can pass: oauth2-token",
            "user: a, pass: $PASS",
        ),
        *(
            "Forgot your password? Reset2FA helps",
            "forgot password? https://shop.test/a1b2c3",
            "Password for 'mira': ",
            "a password?",
        ),
        *(
            "Password [default]: <password>",
            "the password is generated for user42@shop",
            "password for 'mira': ********",
        ),
        *("a password generated with sha256.\n\nNext\n", "Password for the user (see --help):\n  required\n"),
        *("use the password to proceed to step2:\n\nshop-2.0\n", "reset-password?step=2 harbour77"),
        *("cy.get('#password').type('{enter}')", "cy.get('#password').type(word)", "getByLabel('Password').fill('')"),
        *(
            "cy.get('#name').type('harbour77')",
            "getByLabel('Name').fill('harbour77')",
            "a.attr('password').type('text')",
        ),
        *(
            "fill_in 'Password', with: user.password",
            "fill_in 'Name', with: 'harbour77'",
            "page.type('#password', word)",
        ),
        "getByLabel('Password').toHaveAttribute('id', 'a1b2c3')",
        "fireEvent.change(getByLabelText('Password'), event)",
        *('I fill in "Password" with "<password>"', 'a "password" with "strong" rules', "show('password') with 'text'"),
        *("password = crypto.createHash('sha256')", "password = hash('sha256', word)", "SET password=MD5(?)"),
        *("SET password=MD5('$word')", "password = md5(word)", "user.password = bcrypt.hashSync(word, 10)"),
        '__all__ = [\n    "X25519PrivateKey",\n    "MLKEM768X25519PublicKey",\n]',
        *("jwt.sign(payload, 'secret')", "jwt.sign(payload, SHOP_KEY1)", "jwt.encode(p, 'your-256-bit-secret')"),
        *(
            "jwt.decode(token, options={'a': 'harbour77'})",
            "jwt.verify(token, key, 'a1b2c3d4')",
            "jwt.sign('a1b2c3d4', key)",
        ),
        *(
            "hmac.new(key, b'a1b2c3d4', sha256)",
            "hmac.digest(key, 'a1b2c3d4')",
            "createHmac('sha256', key).update('a1b2c3d4')",
        ),
        *("hash_hmac('sha256', $data, $key)", "hash_hmac('sha256', 'a1b2c3d4', $key)", "token.SignedString(key)"),
        *(
            "create_user('mira77', 'mira77@shop.test')",
            "create_user('mira77', 'mira77@shop.test', word)",
            "create_user()",
        ),
        *("type: kubernetes.io/dockerconfigjson", ".dockerconfigjson: ${SHOP}"),
        *("IDENTIFIED WITH mysql_native_password BY '${SHOP}'", "identified with sha256 by '<password>'"),
        *("vault login -method=userpass username=mira1", 'vault login "$SHOP"', "vault kv get shop/db1x2y"),
        *("vault kv put shop/db word=@a1b2c3.txt", "vault kv put shop/db word=-", "vault operator unseal"),
        *("security find-generic-password -w -s harbour77", "security unlock-keychain login1.keychain"),
        *("useradd -m -p '*' mira", "useradd -m -p $(openssl passwd -6) mira", "useradd -s /bin/bash -u 10001 mira"),
        *("sudo tee /etc/shop.conf <<< harbour77", "sudo -S -k ls harbour77", "su - mira77 -c ls", "echo a1b2c3 | wc"),
        *("cryptsetup luksOpen /dev/nvme0n1p3 disk1a2b", "echo '$SHOP' | passwd --stdin mira", "cat /etc/passwd1a2"),
        *(
            "bw unlock --passwordenv BW1_PASS",
            "bw login mira@shop.test",
            "bw login --apikey",
            "neo4j-admin dump --to=a1b2c3",
        ),
        *("htpasswd -nB mira77", "htpasswd -c shop1.htpasswd mira77", "htpasswd -nb mira $SHOP"),
        *("ansible-vault encrypt_string --stdin-name harbour77", "ansible-vault encrypt_string '{{ shop }}'"),
        *("kubeadm join --token <token>", "kubeadm token create --ttl 24h0m0s", "kubeadm join --token $SHOP"),
        *("username and privilege15 secret sharing", "username mira77 privilege 15", "the username is the secret part"),
        *(
            '{"key":"token","val":"string"}',
            "fn new(password: &str, port: u16) {",
            'val password by lazy { read("a1b2c3") }',
        ),
        *(
            "<key>Password</key>\n<string></string>",
            "<key>Port</key><string>a1b2c3d4</string>",
            "<key>Password</key><true/>",
        ),
        *(
            "Server={host};Password={password};",
            "Server=db01;Password={db_pass1};",
            "mysqli('db01', $user, $word, 'a1')",
        ),
        *(
            "FTP(host, user, word)",
            "WiFi.begin(ssid, password1);",
            "basic_auth(user, Some(word))",
            "simple_bind_s(dn, pw1)",
        ),
        *(
            "OpenAI('gpt-4o-mini-2024')",
            "Anthropic(api_key=key)",
            "require('a1')('harbour-lantern')",
            "f(sid, 'harbour-2')",
        ),
        "kind: Secret\nmetadata:\n  name: shop-2024\nstringData:\n  host: db01.shop.local\n  user: mira_2\n",
        "kind: ConfigMap\ndata:\n  cache: harbour77x\n  mode: a1b2c3d4\n",
        *(
            "a password **must** have",
            "the token **X25519** is",
            "the API key Ed25519PrivateKey",
            "a token PYTHON3_VERSION",
        ),
        *(
            "credentials user / password",
            "the login page / signup",
            "use http://shop.test:8080 to log in",
            "use a:b to sign in",
        ),
        *(
            "Pass: TestLogin2Works",
            "PASS: 12 of 14",
            "pass: gemma2Q4KM",
            "vercel env add NAME production",
            "cargo login",
        ),
        *("ngrok http 8080", "npm config set registry https://a1b2c3.test", "mc alias set m http://a1.test $KEY $WORD"),
        *(
            "wpa_passphrase home",
            "nuget push shop.1.2.3.nupkg -s a1b2c3",
            "PRAGMA key_count = 5",
            "PRAGMA user_version = 7",
        ),
        *(
            "gpg --batch --passphrase-file a1b2c3.txt",
            "doctl auth init -t $TOKEN",
            "vault token lookup -self",
            "runas /user:mira",
        ),
        *(
            "createUser(name, 'SHA')",
            "user mira on > out2.txt",
            "expect 'assword:'\nsend $word",
        ),
        *("mysql -u root -p shop", "sudo -u postgres createuser -P app2", "existingSecret: shop-postgresql"),
        *(
            "https://JohnSmith1984@shop.test",
            "https://user@shop.test/a1b2c3",
            'alphabet = "0123456789abcdef".toCharArray()',
            *(
                "[::1]:8080 GET:a1b2c3",
                'type: plain "harbour77"',
                "user mira77\npassword hash",
                "user mira\npassword_file a1b2c3",
            ),
            *(
                "CURLOPT_USERPWD, '$user:$word'",
                "the key-string type2",
                "ppp over a1b2c3",
            ),
            *(
                "restic backup --password-file a1b2c3",
                "certutil -dump a1b2c3.cer",
                "d-i passwd/root-login boolean false",
            ),
            *("a user that is identified by user1234", "schtasks /query /tn a1b2c3", "security import a1b2c3.p12 -A"),
            "apt-key adv --recv-keys 9DC858229FC7DD38854A",
        ),
        *("crypto isakmp policy 10", "crypto isakmp key <key> address 10.0.0.8", "tacacs-server host 10.0.0.8"),
    ],
)
def test_a_harmless_twin_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize(
    "unit",
    [
        *("insert into a (password) values (", "into a (b) values ('a',", "('a', ", "value: aaa name=", 'value:"'),
        *("secret set ", "create secret --from-literal=a=", "echo a1|", "printf '%s' a1 | secret ", 'password || "'),
        *("password = <<E\n", "password = &a ", "password from a1b2c3 to ", 'password = "a1b2c3" -> "'),
        *("user: a / pass: ", "password 'a' ", "password (a", "password is generated for ", "password? "),
        *("#password').type('", "password', { a ", "password=md5('", "password, ", "'password' with ", "password=a.a."),
        *("jwt.sign({", "jwt.sign(a, ", "hmac.new(", "create_user(a, 'b', ", "createhmac('a', "),
        *("identified with a ", "sudo -S ", "ansible-vault encrypt_string --a", "htpasswd -nb a ", "username a "),
        *(
            "PuTTY-User-Key-File-3: Private-Lines: 1\nAAAA\n",
            "kind: Secret\ndata:\n  a: b\n",
            "user a on >",
            "<key>token</key>",
        ),
        *(
            "assword:'\nsend ",
            "OpenAI('",
            "sid, 'a",
            "credentials a / ",
            "password **a",
            "use a:aaaaaa to ",
            "x by lazy {",
        ),
        *('password","type":', '{"password":{"type":"x",', "log in as a/", "password =\n  ", "password => string(1) "),
    ],
)
def test_hostile_repetition_of_a_form_is_gone_through(unit: str) -> None:
    once = redact(unit * (20_000 // len(unit))).text
    assert redact(once).text == once
