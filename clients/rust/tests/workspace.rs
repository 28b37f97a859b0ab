//! A host that works in an untrusted folder: nothing in that folder is run, however the sidecar
//! is found, and whatever the user's `PYTHONPATH` says. The host is this test program, started
//! there.

mod support;

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use futures_executor::block_on;
use libtest_mimic::{Arguments, Failed, Trial};
use stream_sidecar::{Builder, PythonProblem, Sidecar, protocol::NormalizeParams};

fn main() {
    if let [_, mark, way, program] = &env::args().collect::<Vec<_>>()[..]
        && mark == "--host"
    {
        return host(way, program);
    }
    let tests: [(&str, fn()); 5] = [
        (
            "the_mark_is_made_if_a_python_imports_from_the_folder",
            the_mark_is_made_if_a_python_imports_from_the_folder,
        ),
        ("a_python_that_has_the_package", a_python_that_has_the_package),
        ("a_python_that_finds_it_by_pythonpath", a_python_that_finds_it_by_pythonpath),
        (
            "a_command_line_that_would_import_from_the_folder",
            a_command_line_that_would_import_from_the_folder,
        ),
        ("a_python_that_has_no_sidecar", a_python_that_has_no_sidecar),
    ];
    let trials = tests.map(|(name, run)| {
        Trial::test(name, move || {
            run();
            Ok::<(), Failed>(())
        })
    });
    let trials = if cfg!(unix) { trials.into() } else { Vec::new() }; // scripts are programs there
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

#[cfg(unix)]
fn make_executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
fn make_executable(_: &Path) {}

/// The program as a host: finds a sidecar in a given way, and starts it twice.
fn host(way: &str, program: &str) {
    let builder = match way {
        "found" => Sidecar::builder(),
        "python" => Sidecar::builder().python(program),
        _ => Sidecar::builder().command([program, "-m", "stream_sidecar"]),
    };
    let started = block_on(serve(builder));
    if way == "none" {
        let problem = started.unwrap_err();
        assert!(matches!(problem, Some(PythonProblem::NoPackage { .. })), "{problem:?}");
    } else {
        started.unwrap();
    }
}

async fn serve(builder: Builder) -> Result<(), Option<PythonProblem>> {
    let sidecar = builder.build().unwrap();
    sidecar.start().await.map_err(|error| match error {
        stream_sidecar::Error::Start { python, .. } => python,
        other => panic!("{other:?}"),
    })?;
    sidecar.restart().await.unwrap();
    let params =
        NormalizeParams { body: "<think>why</think>Because.".into(), ..Default::default() };
    let answer = sidecar.normalize(&params).await.unwrap();
    assert_eq!(answer.message.text.as_deref(), Some("Because."));
    sidecar.shutdown().await.unwrap();
    Ok(())
}

/// An untrusted folder: a Python that imports from it runs modules that leave a mark. Dropping
/// it removes the folder.
struct Workspace {
    folder: PathBuf,
    /// The interpreter that has the package.
    python: String,
    /// An interpreter without the package, and the folder that has the package for it.
    bare: String,
    packages: String,
}

impl Workspace {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("workspace-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("home")).unwrap();
        let mark = folder.join("ran");
        let program = format!("open({:?}, 'a').write(__name__)\n", mark.to_str().unwrap());
        for module in ["types", "sitecustomize", "usercustomize", "stream_sidecar"] {
            fs::write(folder.join(module).with_extension("py"), &program).unwrap();
        }
        let python = support::command().swap_remove(0);
        let ask =
            "import sys, sysconfig; print(sys._base_executable, sysconfig.get_path('purelib'))";
        let output = Command::new(&python).args(["-I", "-c", ask]).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let (bare, packages) = printed.trim().split_once(' ').unwrap();
        Self { folder, python, bare: bare.into(), packages: packages.into() }
    }

    /// A `PYTHONPATH` with every entry that means the working directory.
    fn search_path(&self, with_package: bool) -> String {
        let sidecar = support::project_tests().join("../sidecar").canonicalize().unwrap();
        let needed = [sidecar.to_str().unwrap(), &self.packages].join(":");
        format!(":{}:.:sub:", if with_package { &needed } else { "/nowhere" })
    }

    /// A Python on `PATH` that logs how it is started.
    fn written(&self, python: &str) -> String {
        let program = self.folder.join("home/python3");
        let log = self.log();
        let script =
            format!("#!/bin/sh\necho \"$1\" >> '{}'\nexec '{python}' \"$@\"\n", log.display());
        fs::write(&program, script).unwrap();
        make_executable(&program);
        program.into_os_string().into_string().unwrap()
    }

    fn log(&self) -> PathBuf {
        self.folder.join("home/log")
    }

    fn starts(&self) -> String {
        fs::read_to_string(self.log()).unwrap().replace('\n', " ")
    }

    fn has_mark(&self) -> bool {
        self.folder.join("ran").exists()
    }

    /// Runs the host here, with a `PATH` that includes this folder.
    fn host(&self, way: &str, program: &str, with_package: bool) -> Output {
        let path = ["", ".", self.folder.join("home").to_str().unwrap()].join(":");
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["--host", way, program]).current_dir(&self.folder);
        command.env_remove("STREAM_SIDECAR").env("PATH", path).env("PYTHONHOME", &self.folder);
        command.env("PYTHONPATH", self.search_path(with_package)).output().unwrap()
    }

    fn serves(&self, way: &str, program: &str, with_package: bool) {
        let output = self.host(way, program, with_package);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(!self.has_mark(), "something of the folder was run");
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn the_mark_is_made_if_a_python_imports_from_the_folder() {
    let workspace = Workspace::new("mark");
    let looking = |alone: &str, folder: &Path| {
        let mut command = Command::new(&workspace.bare);
        command.args([OsStr::new(alone), "-c".as_ref(), "import types".as_ref()]);
        command.env("PYTHONPATH", workspace.search_path(false)).current_dir(folder);
        assert!(command.status().unwrap().success());
        workspace.has_mark()
    };
    assert!(!looking("-I", &workspace.folder));
    assert!(looking("-P", &workspace.folder));
}

fn a_python_that_has_the_package() {
    for way in ["python", "found"] {
        let workspace = Workspace::new(way);
        let program = workspace.written(&workspace.python);
        workspace.serves(way, &program, false);
        assert_eq!(workspace.starts(), "-I -I ");
    }
}

fn a_python_that_finds_it_by_pythonpath() {
    let workspace = Workspace::new("safe");
    let program = workspace.written(&workspace.bare);
    workspace.serves("python", &program, true);
    assert_eq!(workspace.starts(), "-I -P -P ", "which of them worked is remembered");
}

fn a_command_line_that_would_import_from_the_folder() {
    let workspace = Workspace::new("command");
    workspace.serves("command", &workspace.bare, true);
}

fn a_python_that_has_no_sidecar() {
    let workspace = Workspace::new("none");
    workspace.serves("none", &workspace.bare, false);
}
