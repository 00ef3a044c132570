; Inno Setup 6: installs Lineclear for one person, without an administrator.
;
; packaging/build.py compiles it and defines AppVersion, FileVersion, Publisher, AppUserModel, Bundle
; (the folder of the two programs) and Icon. Not tested on Windows yet.

#ifndef AppVersion
  #error Run packaging/build.py: it defines all that this script needs.
#endif

[Setup]
; Never change the id: by it an update finds what is installed.
AppId={{8E0B6D5A-3F0C-4E1B-9C55-6C1D1B7E52A4}
AppName=Lineclear
AppVersion={#AppVersion}
AppVerName=Lineclear {#AppVersion}
AppPublisher={#Publisher}
VersionInfoVersion={#FileVersion}
DefaultDirName={autopf}\Lineclear
DefaultGroupName=Lineclear
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
MinVersion=10.0.17763
OutputBaseFilename=lineclear-{#AppVersion}-windows-setup
SetupIconFile={#Icon}
UninstallDisplayIcon={app}\lineclear-inbox.exe
UninstallDisplayName=Lineclear
Compression=lzma2
SolidCompression=yes
WizardStyle=modern
CloseApplications=yes
RestartApplications=no

[Languages]
Name: "english"; MessagesFile: "compiler:Default.isl"

[Tasks]
Name: "autostart"; Description: "Start Lineclear when I sign in"; Flags: unchecked
Name: "desktopicon"; Description: "{cm:CreateDesktopIcon}"; Flags: unchecked

[InstallDelete]
; What an older version left would be loaded by the newer one.
Type: filesandordirs; Name: "{app}\_internal"
Type: filesandordirs; Name: "{app}\licenses"

[Files]
Source: "{#Bundle}\*"; DestDir: "{app}"; Flags: ignoreversion recursesubdirs createallsubdirs

[Icons]
Name: "{autoprograms}\Lineclear"; Filename: "{app}\lineclear-inbox.exe"; AppUserModelID: "{#AppUserModel}"
Name: "{autodesktop}\Lineclear"; Filename: "{app}\lineclear-inbox.exe"; AppUserModelID: "{#AppUserModel}"; Tasks: desktopicon
Name: "{autostartup}\Lineclear"; Filename: "{app}\lineclear-inbox.exe"; AppUserModelID: "{#AppUserModel}"; Tasks: autostart

[Run]
Filename: "{app}\lineclear-inbox.exe"; Description: "{cm:LaunchProgram,Lineclear}"; Flags: nowait postinstall skipifsilent
